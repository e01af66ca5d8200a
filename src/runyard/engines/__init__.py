"""Engines start node runners where a run shall go, behind the seam in `base`: this machine, and a folder per cluster."""
