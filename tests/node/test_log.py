"""The runner's log has the time of each line, no credentials, and never ends a run."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from runyard.node.log import log_line


def test_a_line_has_its_time_and_no_credentials(capsys: pytest.CaptureFixture[str]) -> None:
    log_line("fetching https://me:hunter2@index.example/simple")
    line = capsys.readouterr().out
    assert re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z fetching ", line)
    assert "hunter2" not in line


def test_a_full_disk_ends_nothing() -> None:
    script = "import os; from runyard.node.log import log_line; log_line('lost'); os.write(2, b'on'); os._exit(0)"
    with open("/dev/full", "w") as full:
        done = subprocess.run([sys.executable, "-c", script], stdout=full, stderr=subprocess.PIPE, timeout=60)
    assert (done.returncode, done.stderr) == (0, b"on")
