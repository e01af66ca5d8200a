"""Runs over several nodes: node 0 leads the others, each of which has a connection to it."""
