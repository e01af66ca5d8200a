from __future__ import annotations

import sys
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from runyard.cli.output import formatting

NOW = datetime(2026, 11, 15, 12, 0, 0, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 kB"),
        (999_949, "999.9 kB"),
        (999_950, "1.0 MB"),
        (3 * 10**15, "3000.0 TB"),
    ],
)
def test_sizes_change_their_unit_before_they_grow_a_fourth_digit(count: int, text: str) -> None:
    assert formatting.size(count) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-0.1, "0.0 s"),
        (9.94, "9.9 s"),
        (59.4, "59 s"),
        (59.6, "1 min"),
        (3599.6, "1 h"),
        (86_400 + 7200, "1 d 2 h"),
    ],
)
def test_durations_carry_over_into_the_next_unit(seconds: float, text: str) -> None:
    assert formatting.duration(seconds) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(-5, "just now"), (1, "just now"), (59, "59 s ago"), (60, "1 min ago"), (3600, "1 h ago"), (172_800, "2 d ago")],
)
def test_how_long_ago(seconds: float, text: str) -> None:
    assert formatting.ago(NOW - timedelta(seconds=seconds), NOW) == text


def test_a_time_of_the_server_is_read_as_utc() -> None:
    assert formatting.moment("2026-11-15T12:00:00.000000Z") == NOW


def test_a_run_that_goes_on_has_lasted_until_now() -> None:
    assert formatting.lasted(None, None) == ""
    assert formatting.lasted("2026-11-15T11:59:00Z", None, NOW) == "1 min"
    assert formatting.lasted("2026-11-15T11:59:00Z", "2026-11-15T11:59:30Z", NOW) == "30 s"


def test_the_command_to_copy_is_the_path_that_was_typed_unless_the_shell_finds_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "runyard"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setattr(sys, "argv", [str(program)])
    monkeypatch.setenv("PATH", "/nowhere")
    assert formatting.program() == str(program)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert formatting.program() == "runyard"
