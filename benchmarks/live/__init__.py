"""Live runs without processes, and servers under their load."""
