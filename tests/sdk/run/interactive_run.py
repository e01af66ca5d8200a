"""Interactive runs for the tests of the parts of `Run`, and a chart to log."""

from __future__ import annotations

from typing import Any

from runyard.sdk.experiment import Experiment
from runyard.sdk.run.run import Run

MATRIX: dict[str, Any] = {
    "schema_type": "confusion_matrix",
    "schema_version": "1.0.0",
    "data": {"class_labels": ["a"], "matrix": [[1]]},
}


def begin(experiment: Experiment, **options: Any) -> Run:
    return experiment.start_logging(**{"snapshot_directory": None, "outputs": False, **options})
