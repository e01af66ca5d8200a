"""Runyard: run training scripts on machines you own, with the API of Azure ML's SDK v1."""

__version__ = "0.1.0"
