from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from runyard.cli import api
from runyard.cli.checks.check import WARN
from runyard.cli.checks.run_folders import NAMED, run_folders

if TYPE_CHECKING:
    from tests.cli.conftest import Shell


def leave(home: Path, *names: str) -> None:
    for name in names:
        folder = home / "runs" / name
        folder.mkdir(parents=True)
        (folder / "log").write_bytes(b"x" * 2000)


def test_a_home_without_run_folders_has_nothing_to_report(tmp_path: Path) -> None:
    assert list(run_folders(tmp_path, None)) == []


def test_without_a_server_all_of_them_may_wait(tmp_path: Path) -> None:
    leave(tmp_path, "a@1", "a@2", "b", ".being_removed")
    (warned,) = run_folders(tmp_path, None)
    assert (warned.verdict, "6.0 kB of 2 runs (a, b)" in warned.message) == (WARN, True)


def test_what_ended_and_what_the_server_does_not_know_are_reported_apart(shell: Shell, tmp_path: Path) -> None:
    ended_id = shell.completed("pass")["id"]
    server = api.connect_if_running(shell.home, timeout=60)
    assert server is not None
    leave(tmp_path, ended_id, "nobody_1763235000_1a2b3c4d")
    ended, unknown = run_folders(tmp_path, server)
    assert (ended.name, f"2.0 kB of 1 run ({ended_id})" in ended.message) == ("run folders", True)
    assert (unknown.name, "(nobody_1763235000_1a2b3c4d)" in unknown.message) == ("unknown run folders", True)


def test_of_many_runs_some_are_named(tmp_path: Path) -> None:
    leave(tmp_path, *(f"run-{number}" for number in range(NAMED + 3)))
    (warned,) = run_folders(tmp_path, None)
    assert "run-4 and 3 more" in warned.message
