"""What the widget asks for besides the run: little, and nothing of a run that has not begun."""

from __future__ import annotations

from typing import Any, cast

from runyard.sdk.experiment import Experiment
from runyard.sdk.widgets.surroundings import NOTHING, Surroundings, look_around


def test_nothing_is_asked_for_a_run_that_waits(experiment: Experiment) -> None:
    waits: Any = {"id": "none", "started_at": None, "type": "hyperdrive", "workspace": "local"}
    assert look_around(experiment.workspace.service, waits) == NOTHING == Surroundings()


def test_a_model_that_was_deleted_meanwhile_is_still_named(experiment: Experiment) -> None:
    run = experiment.start_logging(outputs=None, snapshot_directory=None)
    document = cast("Any", {**run._service.get(f"/api/runs/{run.id}"), "models": ["gone:7"]})
    (found,) = look_around(experiment.workspace.service, document).models
    assert (found.id, list(found.services)) == ("gone:7", [])
    run.complete()
