"""Tabular datasets: what users call, and the engine that reads rows in their environment."""
