"""HyperDriveRun against a real server: the best child, the order of all, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from runyard.sdk.exceptions import HyperDriveConfigException, HyperDriveNotImplementedException
from runyard.sdk.experiment import Experiment
from runyard.sdk.hyperdrive.config import HyperDriveConfig, PrimaryMetricGoal
from runyard.sdk.hyperdrive.expressions import choice
from runyard.sdk.hyperdrive.run import HyperDriveRun
from runyard.sdk.hyperdrive.sampling import GridParameterSampling
from runyard.sdk.run.run import Run
from runyard.sdk.submit.script_run_config import ScriptRunConfig
from runyard.sdk.workspace.workspace import Workspace

TRAIN = """
import sys
from azureml.core import Run
x = int(sys.argv[-1])
if x:
    Run.get_context().log('loss', x)
"""


def test_the_children_and_how_they_stand(workspace: Workspace) -> None:
    folder = Path("project")
    folder.mkdir()
    (folder / "train.py").write_text(TRAIN)
    config = HyperDriveConfig(
        GridParameterSampling({"x": choice(3, 0, 1)}),
        "loss",
        PrimaryMetricGoal.MINIMIZE,
        max_total_runs=3,
        run_config=ScriptRunConfig(folder, "train.py"),
    )
    run = Experiment(workspace, "sweeps").submit(config, tags={"mine": "yes"})
    assert isinstance(run, HyperDriveRun)
    run.wait_for_completion()
    assert run.hyperdrive_config is config
    assert (run.type, run.get_tags()["mine"]) == ("hyperdrive", "yes")
    best = run.get_best_run_by_primary_metric()
    assert best is not None
    assert (best.id, best.get_metrics()) == (f"{run.id}_2", {"loss": 1})
    assert best.parent == run
    order = run.get_children_sorted_by_primary_metric()
    assert [each["best_primary_metric"] for each in order] == [1, 3, None]
    assert order[0] == {
        "run_id": best.id,
        "hyperparameters": '{"x": 1}',
        "best_primary_metric": 1.0,
        "status": "Completed",
    }
    ids = [each["run_id"][-1] for each in run.get_children_sorted_by_primary_metric(reverse=True)]
    assert ids == ["0", "2", "1"]
    assert len(run.get_children_sorted_by_primary_metric(top=1)) == 1
    assert len(run.get_children_sorted_by_primary_metric(discard_no_metric=True)) == 2
    assert json.loads(run.get_hyperparameters()[best.id]) == {"x": 1}
    assert run.get_metrics() == {f"{run.id}_0": {"loss": 3}, f"{run.id}_2": {"loss": 1}}
    assert list(run.get_details()["logFiles"]) == ["azureml-logs/hyperdrive.txt"]
    found = Run.get(workspace, run.id)
    assert isinstance(found, HyperDriveRun)
    assert found.hyperdrive_config is None

    for wrong in ({"top": -1}, {"top": True}, {"reverse": 1}, {"discard_no_metric": None}):
        with pytest.raises(AssertionError):
            run.get_children_sorted_by_primary_metric(**wrong)
    for refused in (run.fail, run.get_diagnostics):
        with pytest.raises(HyperDriveNotImplementedException):
            refused()
    with pytest.raises(HyperDriveConfigException):
        HyperDriveRun(run.experiment, run.id, "config")  # type: ignore[arg-type]

    again = HyperDriveConfig(
        GridParameterSampling({"x": choice(5)}),
        "loss",
        PrimaryMetricGoal.MINIMIZE,
        max_total_runs=1,
        run_config=ScriptRunConfig(folder, "train.py"),
        resume_from=run,
    )
    other = HyperDriveConfig(
        GridParameterSampling({"x": choice(5)}),
        "accuracy",
        PrimaryMetricGoal.MAXIMIZE,
        max_total_runs=1,
        run_config=ScriptRunConfig(folder, "train.py"),
        resume_from=run,
    )
    with pytest.raises(HyperDriveConfigException, match="cannot be compared"):
        Experiment(workspace, "sweeps").submit(other)
    later = Experiment(workspace, "sweeps").submit(again)
    assert isinstance(later, HyperDriveRun)
    later.wait_for_completion()
    assert later.get_best_run_by_primary_metric() == best
    own = later.get_best_run_by_primary_metric(include_resume_from_runs=False)
    assert own is not None
    assert own.get_metrics() == {"loss": 5}
