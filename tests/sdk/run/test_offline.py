"""A script that is started by hand runs through: what it would record is printed."""

from __future__ import annotations

import pytest

from runyard.sdk.run.offline import _OfflineRun


def test_each_method_prints_what_it_got(capsys: pytest.CaptureFixture[str]) -> None:
    run = _OfflineRun()
    run.log("loss", 0.5)
    run.log_list("list", [1])
    run.log_row("row", x=1)
    run.log_table("table", {"x": [1]})
    run.log_image("image", path="a.png")
    run.log_confusion_matrix("matrix", {})
    run.log_accuracy_table("accuracy", {})
    run.log_residuals("residuals", {})
    run.log_predictions("predictions", {})
    run.upload_file("f", "f")
    run.upload_files(["f"], ["f"])
    run.upload_folder("g", "g")
    run.tag("k", "v")
    run.set_tags({"k": "v"})
    run.add_properties({"k": "v"})
    run.flush()
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["Outside a run, not recorded: scalar metric loss", "0.5"]
    assert len(lines) == 30


def test_a_step_is_taken_as_in_a_run(capsys: pytest.CaptureFixture[str]) -> None:
    _OfflineRun().log("loss", 0.5, step=3)
    assert capsys.readouterr().out == "Outside a run, not recorded: scalar metric loss at step 3\n0.5\n"


def test_ids_and_children() -> None:
    run = _OfflineRun()
    assert run.id.startswith("OfflineRun_")
    assert run.child_run("kid").id == f"{run.id}.kid"


def test_it_is_a_context_and_lets_errors_through(capsys: pytest.CaptureFixture[str]) -> None:
    with _OfflineRun():
        pass
    with pytest.raises(ValueError, match="boom"), _OfflineRun():
        raise ValueError("boom")
    assert "failed" in capsys.readouterr().out


def test_what_sdk_v1_lacks_here_is_lacking() -> None:
    run = _OfflineRun()
    for name in ("experiment", "parent", "input_datasets", "get_metrics", "get_details"):
        assert not hasattr(run, name)
