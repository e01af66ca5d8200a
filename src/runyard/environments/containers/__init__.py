"""Environments that are images: finding an engine, building the image, installing packages on top, running in it."""
