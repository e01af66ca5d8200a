from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from runyard.cli.checks import machine_checks
from runyard.cli.checks.check import FAIL, OK, WARN, Check


def verdicts(checks: list[Check]) -> list[tuple[str, str]]:
    return [(check.name, check.verdict) for check in checks]


def test_a_home_that_others_can_enter_is_warned_of(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (absent,) = machine_checks.home_folder(home)
    assert (absent.verdict, home.exists()) == (OK, False)
    home.mkdir(mode=0o700)
    assert verdicts(list(machine_checks.home_folder(home)))[0] == ("home", OK)
    home.chmod(0o755)
    warned = next(iter(machine_checks.home_folder(home)))
    assert (warned.verdict, warned.help) == (WARN, f"chmod 700 {home}")
    file = tmp_path / "file"
    file.touch()
    assert verdicts(list(machine_checks.home_folder(file))) == [("home", FAIL)]


def test_a_disk_that_is_nearly_full_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tmp_path.chmod(0o700)
    for little, none, verdict in ((0, 0, OK), (2**63, 0, WARN), (2**63, 2**63, FAIL)):
        monkeypatch.setattr(machine_checks, "LITTLE_SPACE", little)
        monkeypatch.setattr(machine_checks, "NO_SPACE", none)
        assert verdicts(list(machine_checks.home_folder(tmp_path)))[1] == ("space", verdict)


def test_secrets_are_for_their_owner_alone(tmp_path: Path) -> None:
    assert list(machine_checks.secrets(tmp_path)) == []
    for name, mode in (("token", 0o600), ("secret", 0o640)):
        (tmp_path / name).touch()
        (tmp_path / name).chmod(mode)
    assert verdicts(list(machine_checks.secrets(tmp_path))) == [("token", OK), ("secret", FAIL)]


def test_a_file_that_is_no_database_fails(tmp_path: Path) -> None:
    assert list(machine_checks.database(tmp_path)) == []
    path = tmp_path / "runyard.db"
    path.write_bytes(machine_checks.SQLITE_HEADER + b"x" * 984)
    (fine,) = machine_checks.database(tmp_path)
    assert (fine.verdict, "1.0 kB" in fine.message) == (OK, True)
    path.write_text("something else")
    assert verdicts(list(machine_checks.database(tmp_path))) == [("database", FAIL)]


def test_journals_that_wait_are_counted_without_what_was_confirmed(tmp_path: Path) -> None:
    assert list(machine_checks.telemetry(tmp_path)) == []
    folder = tmp_path / "telemetry" / "run" / "journal"
    folder.mkdir(parents=True)
    for name, confirmed in (("a@1", "40"), ("b@1", ""), ("c@1", "not a number")):
        (folder / f"{name}.jsonl").write_bytes(b"x" * 100)
        (folder / f"{name}.ack").write_text(confirmed)
    (warned,) = machine_checks.telemetry(tmp_path)
    assert (warned.verdict, "260 B" in warned.message) == (WARN, True)


def test_an_upload_counts_as_left_over_after_a_while(tmp_path: Path) -> None:
    incoming = tmp_path / "objects" / "incoming"
    assert list(machine_checks.half_uploads(tmp_path)) == []
    incoming.mkdir(parents=True)
    (incoming / "under-way").write_bytes(b"x" * 500)
    assert list(machine_checks.half_uploads(tmp_path)) == []
    then = time.time() - machine_checks.LEFTOVER_SECONDS - 60
    (incoming / "broke-off").write_bytes(b"x" * 3000)
    os.utime(incoming / "broke-off", (then, then))
    (warned,) = machine_checks.half_uploads(tmp_path)
    assert (warned.verdict, "3.0 kB" in warned.message) == (WARN, True)


def test_git_is_missed_where_it_is_not_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "git").touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert verdicts(list(machine_checks.git())) == [("git", OK)]
    (tmp_path / "git").unlink()
    assert verdicts(list(machine_checks.git())) == [("git", WARN)]
