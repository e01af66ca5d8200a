"""Code of SDK v1 that uses its workspace from inside a run: it logs to its parent, looks around, registers, submits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from azureml.core import Environment, Experiment, Run, Workspace

if TYPE_CHECKING:
    from tests.journeys.conftest import Yard

PARENT = """
import sys
from azureml.core import Environment, Run, ScriptRunConfig

here = Environment("here")
here.python.user_managed_dependencies = True
run = Run.get_context()
config = ScriptRunConfig(".", command=[sys.executable, "child.py", *sys.argv[1:]], environment=here)
child = run.submit_child(config)
child.wait_for_completion()
assert run.get_metrics()["loss"] == 0.5
"""

CHILD = """
import sys
from pathlib import Path
from azureml.core import Environment, Experiment, Run, ScriptRunConfig, Workspace
from azureml.exceptions import AuthenticationException

older_id, experiment_id = sys.argv[1:]
run = Run.get_context()
ws = run.experiment.workspace

# its parent
parent = run.parent
parent.log("loss", 0.5)
parent.log_table("table", {"a": [1, 2]})
parent.log_confusion_matrix("matrix", {
    "schema_type": "confusion_matrix", "schema_version": "1.0.0",
    "data": {"class_labels": ["a"], "matrix": [[1]]},
})
parent.tag("best", run.id)
parent.add_properties({"seen": "yes"})
parent.upload_file("outputs/from-child.txt", __file__)

# the workspace
assert Workspace.from_config().name == ws.name == ws.get_details()["name"]
assert list(Workspace.list()) == [ws.name]
assert run.experiment.name in ws.experiments
assert {each.id for each in run.experiment.get_runs(include_children=True)} >= {run.id, parent.id, older_id}
older = Run.get(ws, older_id)
assert older.get_metrics() == {"done": 1}
older.download_file("outputs/model.txt", "model.txt")
assert Path("model.txt").read_text() == "a model"
assert Path(older.restore_snapshot()).is_file()
assert "SECRET" not in str(older.get_details())
assert not ws.compute_targets

# registering and submitting
Environment("made-inside").register(ws)
assert Environment.get(ws, "made-inside").version == "1"
here = Environment("here")
here.python.user_managed_dependencies = True
other = Experiment(ws, "from-inside")
submitted = other.submit(ScriptRunConfig(".", command=["echo", "hello"], environment=here))
submitted.wait_for_completion()
submitted.tag("by", run.id)
with other.start_logging(snapshot_directory=None, outputs=False) as interactive:
    interactive.log("x", 1)
left = other.start_logging(snapshot_directory=None, outputs=False, run_id="left-open")
left.log("x", 2)
with parent.child_run("of the parent") as sibling:
    sibling.log("x", 3)

# and no more than that
for what in (
    lambda: older.log("loss", 1),
    lambda: older.tag("mine"),
    lambda: older.cancel(),
    lambda: Experiment.delete(ws, experiment_id),
    lambda: ws.delete(),
    lambda: ws.update(description="mine"),
    lambda: run.experiment.archive(),
    lambda: Workspace.get("elsewhere"),
    lambda: Workspace("s", "r", "elsewhere"),
    lambda: Workspace.create("another"),
):
    try:
        what()
    except AuthenticationException as refusal:
        assert run.id in str(refusal)
    else:
        sys.exit("that should have been refused")
"""


def test_a_run_uses_its_workspace(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUNYARD_LOCAL_RUNS", "1")  # a run that waits for another must not keep it out
    Workspace.create("elsewhere", subscription_id="s", resource_group="r")
    config = yard.config(
        """
        from pathlib import Path
        from azureml.core import Run
        Run.get_context().log("done", 1)
        Path("outputs").mkdir(exist_ok=True)
        Path("outputs/model.txt").write_text("a model")
        """
    )
    config.run_config.environment_variables["SECRET"] = "open sesame"
    older = Experiment(yard.workspace, "journey").submit(config)
    older.wait_for_completion()
    family = yard.config(PARENT, older.id, older.experiment.id, max_seconds=600)
    (yard.folder / "project-2" / "child.py").write_text(CHILD)
    parent = Experiment(yard.workspace, "journey").submit(family)
    try:
        parent.wait_for_completion()
    except Exception as error:
        logs = [each.get_details_with_logs()["logFiles"] for each in (parent, *parent.get_children())]
        raise AssertionError(logs) from error

    ws = yard.workspace
    (child,) = parent.get_children(type="azureml.scriptrun")
    assert child.parent == parent
    metrics = parent.get_metrics()
    assert (metrics["loss"], metrics["table"]) == (0.5, {"a": [1, 2]})
    assert parent.get_tags()["best"] == child.id
    assert parent.get_properties()["seen"] == "yes"
    assert "outputs/from-child.txt" in parent.get_file_names()
    assert Environment.get(ws, "made-inside").name == "made-inside"
    made = {each.type: each for each in Experiment(ws, "from-inside").get_runs() if each.id != "left-open"}
    submitted, interactive = made["azureml.scriptrun"], made["azureml.interactive"]
    assert (submitted.get_status(), submitted.parent, submitted.get_tags()) == ("Completed", None, {"by": child.id})
    assert submitted.get_details()["submittedBy"] == parent.get_details()["submittedBy"]
    assert submitted.get_properties()["runyard.submitted.from"] == child.id
    assert (interactive.get_status(), interactive.get_metrics()) == ("Completed", {"x": 1})
    left = Run.get(ws, "left-open")  # it ends with the script that began it
    assert (left.get_status(), left.get_metrics()) == ("Completed", {"x": 2})
    (sibling,) = parent.get_children(type="azureml.interactive")
    assert (sibling.get_status(), sibling.get_metrics()) == ("Completed", {"x": 3})
    assert older.get_tags() == {}
