"""Sweeps: runs whose children are sampled from a space, and stopped when they fall behind."""
