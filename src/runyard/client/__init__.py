"""Talking to the server: HTTP, streams, problems, and the server process of this machine. Standard library alone."""
