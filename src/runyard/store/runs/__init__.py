"""Workspaces, experiments and runs."""
