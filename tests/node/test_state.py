from __future__ import annotations

from pathlib import Path

from tests.support.bad_json import every_bad_text

from runyard.node import state
from runyard.node.state import RUNNING, Launched, State


def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    saved = State(
        RUNNING, Launched(1, "5"), "cookie", [Launched(2, None)], "cancelled", {"fact": "ended"}, "here", True
    )
    saved.save(tmp_path)
    assert state.load(tmp_path) == saved
    assert (tmp_path / "state.json").stat().st_mode & 0o077 == 0


def test_no_state(tmp_path: Path) -> None:
    assert state.load(tmp_path) is None


@every_bad_text
def test_a_damaged_state_is_none(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "state.json").write_bytes(text)
    assert state.load(tmp_path) is None


def test_a_machine_is_always_told_the_same() -> None:
    assert state.machine() == state.machine() != ""


def test_a_disk_that_takes_nothing_does_not_end_the_run(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    State(RUNNING, Launched(1, "5"), "cookie").save(tmp_path / "file")
