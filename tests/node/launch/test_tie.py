"""If these fail, a script could outlive the node runner that started it, and nobody would know that it runs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from tests.support.waiting import wait_until

from runyard.node.launch import tie

STARTS = """
import subprocess, sys, time
from pathlib import Path
from runyard.node.launch import tie
from runyard.node.launch.launch import start
if {look}:
    tie.look()
argv = ["/bin/sleep", "600"]
assert bool(tie.tie(argv[0]).before) == {look}
print(start(argv, Path("/"), {{}}, Path({log!r})).pid, flush=True)
time.sleep(600)
"""


@pytest.fixture
def looked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tie, "_there", False)
    tie.look()
    if not tie.tie("/bin/sleep").before:
        pytest.skip("setpriv of util-linux is not installed")


@pytest.mark.slow
@pytest.mark.parametrize("look", [False, True], ids=["a step of Python", "setpriv"])
def test_a_script_dies_with_its_runner(tmp_path: Path, look: bool, looked: None) -> None:
    code = STARTS.format(look=look, log=str(tmp_path / "log"))
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as runner:
        assert runner.stdout is not None
        script = psutil.Process(int(runner.stdout.readline()))
        wait_until(lambda: script.cmdline() == ["/bin/sleep", "600"])
        runner.kill()
    wait_until(lambda: not script.is_running() or script.status() == psutil.STATUS_ZOMBIE)


def test_what_might_not_start_is_not_left_to_setpriv(tmp_path: Path, looked: None) -> None:
    """It could only exit, with a code that might be the script's own."""
    text = tmp_path / "script"
    text.write_text("#!/no/such/interpreter\n")
    for program in (str(text), str(tmp_path / "missing"), "sleep"):
        assert tie.tie(program).before == []


def test_without_setpriv_the_step_is_taken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As where it is another one, which does not know how to ask."""
    other = tmp_path / "setpriv"
    other.write_text("#!/bin/sh\nexit 1\n")
    other.chmod(0o755)
    monkeypatch.setattr(tie, "_ASKS", [str(other), "--pdeathsig", "KILL", "--"])
    tie.look()
    assert tie.tie("/bin/sleep").before == []
