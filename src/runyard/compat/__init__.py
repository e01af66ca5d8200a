"""Interfaces of others that scripts expect, in reach of a run only where it needs them. Nothing here imports Runyard.

A folder below is put on a run's path by the node runner, and is then a package of its own: modules import each other
relatively.
"""
