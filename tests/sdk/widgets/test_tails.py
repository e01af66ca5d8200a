"""The end of a log is whole lines, and a log that is not there is no error."""

from __future__ import annotations

from pathlib import Path

from runyard.sdk.experiment import Experiment
from runyard.sdk.widgets.tails import tail


def test_whole_lines_within_a_size(experiment: Experiment, tmp_path: Path) -> None:
    run = experiment.start_logging(outputs=None, snapshot_directory=None)
    for name, text in (("long", "first\nsecond\nthird ü\n"), ("one", "x" * 100), ("empty", "")):
        (tmp_path / name).write_text(text, "utf-8")
        run.upload_file(f"user_logs/{name}.txt", str(tmp_path / name))
    run.complete()
    service = experiment.workspace.service
    assert tail(service, run.id, "user_logs/long.txt", 1000) == "first\nsecond\nthird ü\n"
    assert tail(service, run.id, "user_logs/long.txt", 12) == "third ü\n"
    assert tail(service, run.id, "user_logs/one.txt", 10) == "x" * 10
    assert tail(service, run.id, "user_logs/empty.txt", 10) == ""
    assert tail(service, run.id, "user_logs/nosuch.txt", 10) == ""
