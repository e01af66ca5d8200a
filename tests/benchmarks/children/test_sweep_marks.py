"""The gap between two trials, from what they wrote down: the benchmark's figure is worth what this is."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from benchmarks.children import sweep_marks


def told(path: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, float]:
    sweep_marks.answer(str(path), 2, 100.0, 104.0)
    found: dict[str, float] = json.loads(capsys.readouterr().out)
    return found


def test_the_trial_that_takes_a_place_begins_as_many_later_as_run_at_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    marks = tmp_path / "marks"
    marks.write_text("100.0\n100.1\n101.5\n101.4\n")
    assert told(marks, capsys) == {"trials": 4, "seconds": 4.0, "gap": pytest.approx(1.4)}
    (tmp_path / "marks.ends").write_text("101.3\n101.2\n102.5\n102.4\n")
    assert told(marks, capsys)["gap"] == pytest.approx(0.2)


def test_a_trial_writes_down_when_it_begins_and_when_it_ends(tmp_path: Path) -> None:
    """A process and a call tell the same, or the rows of the table could not be compared."""
    for kind in ("process", "function"):
        marks = tmp_path / f"it's a {kind}"
        for seconds in (0.0, 0.01):
            if kind == "process":
                subprocess.run([sweep_marks.program(str(tmp_path), str(marks), seconds), "--x", "0.5"], check=True)
            else:
                sweep_marks.call(str(marks), seconds)
            assert (tmp_path / f"{marks.name}.ends").exists() == bool(seconds)
        begun, ended = (float(path.read_text().split()[-1]) for path in (marks, tmp_path / f"{marks.name}.ends"))
        assert begun < ended
