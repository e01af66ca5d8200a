"""What answers requests with the model that train.py has left: SDK v1's two functions."""

from __future__ import annotations

import json
import math

from azureml.core.model import Model

weights: list[float] = []


def init() -> None:
    """Load the model, once."""
    with open(Model.get_model_path("points")) as file:
        weights.extend(json.load(file)["weights"])


def run(data: str) -> list[float]:
    """How likely each point is of the second cloud."""
    points = json.loads(data)["data"]
    scores = [weights[0] + weights[1] * x + weights[2] * y for x, y in points]
    return [round(1 / (1 + math.exp(-score)), 3) for score in scores]
