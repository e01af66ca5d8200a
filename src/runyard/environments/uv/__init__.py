"""Environments of packages from PyPI, built by uv."""
