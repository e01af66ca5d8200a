"""Engines start node runners where a run shall go, behind the seam in `base`: this machine, a folder per cluster."""
