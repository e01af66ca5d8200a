"""The output, the logs and the outputs folder of the process that leads a run reach its history."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tests.sdk.run.interactive_run import begin

from runyard.sdk.experiment import Experiment


def test_a_with_block_keeps_output_logs_and_outputs(experiment: Experiment, capsys: pytest.CaptureFixture[str]) -> None:
    with begin(experiment, outputs=None) as run:
        print("shown and kept")
        print("also this", file=sys.stderr)
        Path("logs").mkdir()
        Path("logs/mine.txt").write_text("my log")
        Path("outputs/model.txt").write_text("model")
    assert run.get_status() == "Completed"
    assert set(run.get_file_names()) == {"logs/user_log.txt", "logs/mine.txt", "outputs/model.txt"}
    run.download_file("logs/user_log.txt", "kept.txt")
    assert Path("kept.txt").read_text() == "shown and kept\nalso this\n"
    assert "shown and kept" in capsys.readouterr().out
    assert run.get_details_with_logs()["logFiles"]["logs/mine.txt"] == "my log"
    assert [Path(path).name for path in run.get_all_logs()] == ["mine.txt", "user_log.txt"]
