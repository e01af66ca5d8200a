"""The part of `Model` that makes services of models."""

from __future__ import annotations


class ModelDeployment:
    """What a model is served with. The registry alone needs nothing of it."""
