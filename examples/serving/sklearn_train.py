"""Trains a classifier of scikit-learn, and pickles it: it is served with no code."""

from __future__ import annotations

from pathlib import Path

import joblib
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

from azureml.core import Run

features, species = load_iris(return_X_y=True)
model = LogisticRegression(max_iter=500).fit(features, species)
accuracy = model.score(features, species)
Run.get_context().log("accuracy", accuracy)
Path("outputs").mkdir(exist_ok=True)
joblib.dump(model, "outputs/model.pkl")
print(f"Accuracy {accuracy:.2f}; saved to outputs/model.pkl")
