"""A scoring script: loads the classifier of sklearn_train.py, and names the species instead of numbering it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import joblib

SPECIES = ("setosa", "versicolor", "virginica")
model: Any = None


def init() -> None:
    global model
    (path,) = Path(os.environ["AZUREML_MODEL_DIR"]).rglob("model.pkl")
    model = joblib.load(path)


def run(data: str) -> dict[str, list[str]]:
    return {"species": [SPECIES[number] for number in model.predict(json.loads(data)["data"])]}
