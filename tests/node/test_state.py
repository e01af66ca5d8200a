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


def test_the_last_state_that_is_whole_counts(tmp_path: Path) -> None:
    """A disk that was full, or a runner that was killed, may have left half a line at the end, and others after it."""
    first, second = (State(RUNNING, Launched(pid, "5"), "cookie") for pid in (1, 2))
    first.save(tmp_path)
    with open(tmp_path / "state.json", "ab") as file:
        file.write(b'{"phase": "ended", "runn')
    assert state.load(tmp_path) == first
    second.save(tmp_path)
    assert state.load(tmp_path) == second


def test_many_states_do_not_add_up(tmp_path: Path) -> None:
    saved = State(RUNNING, Launched(1, "5"), "cookie", [Launched(pid, "7") for pid in range(2000)])
    for _ in range(20):
        saved.save(tmp_path)
    assert state.load(tmp_path) == saved
    assert (tmp_path / "state.json").stat().st_size < 3 * state.LARGE
    assert (tmp_path / "state.json").stat().st_mode & 0o077 == 0


def test_a_state_of_an_older_runner_is_read(tmp_path: Path) -> None:
    """It wrote one object, without an end of line: its run is rescued by a newer one after an upgrade."""
    (tmp_path / "state.json").write_text('{"phase": "running", "runner": {"pid": 7, "started": "5"}, "cookie": "c"}')
    assert state.load(tmp_path) == State(RUNNING, Launched(7, "5"), "c")


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
