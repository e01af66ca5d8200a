"""Engines start node runners where a run shall go: one file per engine, behind the seam in `base`."""
