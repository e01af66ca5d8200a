"""Exported metrics: real TensorBoard reads them, with the steps and times that they were logged with."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from tests.support import frameworks

from runyard.contracts.formats.event_files import scalars
from runyard.sdk.exceptions import UserErrorException
from runyard.sdk.experiment import Experiment
from runyard.sdk.run.run import Run
from runyard.sdk.tensorboard.export import export_to_tensorboard

READ = """
import json, sys
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
found = EventAccumulator(sys.argv[1], size_guidance={"tensors": 0, "scalars": 0})
found.Reload()
tags = found.Tags()["scalars"]
print(json.dumps({tag: [(each.step, each.value) for each in found.Scalars(tag)] for tag in tags}))
"""


@pytest.fixture
def logged(experiment: Experiment) -> Run:
    run = experiment.start_logging(snapshot_directory=None)
    for step in range(3):
        run.log("loss", 1 / 2**step, step=10 * step)
    run.log("note", "a text")
    run.log_row("table", x=1, y=2.5)
    child = run.child_run()
    child.log("acc", 0.5)
    child.complete()
    run.complete()
    return run


def test_tensorboard_reads_what_was_exported(logged: Run, tmp_path: Path) -> None:
    export_to_tensorboard(logged, tmp_path / "logs")
    export_to_tensorboard([logged], str(tmp_path / "logs"))  # once more: no point is there twice
    python = frameworks.environment("tensorboard")
    read = subprocess.run(
        [python, "-c", READ, tmp_path / "logs" / logged.id], capture_output=True, text=True, check=False
    )
    assert read.returncode == 0, read.stderr
    assert json.loads(read.stdout) == {
        "loss": [[0, 1.0], [10, 0.5], [20, 0.25]],
        "table/x": [[0, 1.0]],
        "table/y": [[0, 2.5]],
    }


def test_runs_below_come_too_unless_they_are_not_wanted(logged: Run, tmp_path: Path) -> None:
    (child,) = logged.get_children()
    export_to_tensorboard(logged, tmp_path / "all")
    export_to_tensorboard(logged, tmp_path / "one", recursive=False)
    assert {each.name for each in (tmp_path / "all").iterdir()} == {logged.id, child.id}
    assert [each.name for each in (tmp_path / "one").iterdir()] == [logged.id]
    (file,) = (tmp_path / "all" / child.id).iterdir()
    (point,), _ = scalars(file.read_bytes())
    assert (point.tag, point.value) == ("acc", 0.5)


def test_what_is_no_run_or_no_folder_is_refused(logged: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserErrorException, match="is a file"):
        export_to_tensorboard(logged, tmp_path / "file")
    with pytest.raises(UserErrorException, match="not a value of the type str"):
        export_to_tensorboard(["a run"], tmp_path)  # type: ignore[list-item]
    with pytest.raises(UserErrorException, match="empty"):
        export_to_tensorboard([], tmp_path)
