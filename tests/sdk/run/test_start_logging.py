"""Beginning an interactive run: what it takes along, and what nobody means to take along."""

from __future__ import annotations

from pathlib import Path

import pytest

from runyard.sdk.exceptions import UserErrorException
from runyard.sdk.experiment import Experiment


def test_what_the_run_is_given(experiment: Experiment) -> None:
    run = experiment.start_logging(
        name="n", outputs="kept", snapshot_directory=None, description="d", tags={"a": 1}, properties={"p": "q"}
    )
    assert (run.name, run.display_name, run.description) == ("n", "n", "d")
    assert (run.get_tags(), run.get_properties()) == ({"a": "1"}, {"p": "q"})
    Path("kept/model.txt").write_text("model")
    run.complete()
    assert "outputs/model.txt" in run.get_file_names()


@pytest.mark.parametrize("outputs", [None, False])
def test_the_outputs_folder(experiment: Experiment, outputs: bool | None) -> None:
    run = experiment.start_logging(outputs=outputs, snapshot_directory=None)
    run.complete()
    assert Path("outputs").is_dir() is (outputs is None)


def test_no_snapshot_of_a_whole_home_folder(
    experiment: Experiment, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    run = experiment.start_logging(outputs=False)
    assert "No snapshot was taken" in caplog.text
    assert "ContentSnapshotId" not in run.get_properties()
    run.complete()


def test_an_id_that_no_run_can_have(experiment: Experiment) -> None:
    with pytest.raises(UserErrorException, match="1 to 200"):
        experiment.start_logging(run_id="../x", snapshot_directory=None)
