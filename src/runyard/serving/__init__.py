"""What runs in the processes of a service: the server that answers requests, and the runtimes of models without code.

It is started in the service's own environment, so it runs on Python 3.8 with the standard library alone; the packages
of frameworks are loaded by the runtime that needs them.
"""
