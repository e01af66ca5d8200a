"""The processes of a node: in a process of their own, because whoever ends them ends everything below it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.node.conftest import SOURCES

BEGIN = """
import json, os, sys, time
from pathlib import Path
from runyard.node.launch import processes
from runyard.node.launch.children import Children
from runyard.node.signals import Signals
signals = Signals()
processes.adopt_orphans()
cookie = os.urandom(8).hex()
work = Path(sys.argv[1])
children = Children(cookie, 0.5, signals)
known = {**os.environ, processes.COOKIE: cookie}
def start(text, log):
    return children.start([sys.executable, "-c", text], work, known, work / log)
def until(condition):
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        signals.wait(0.1)
"""


def run(tmp_path: Path, text: str) -> Any:
    argv = [sys.executable, "-c", BEGIN + text, str(tmp_path)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=120, env={"PYTHONPATH": str(SOURCES)})
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_each_has_its_log_and_its_end(tmp_path: Path) -> None:
    text = """
started = [start(f"print({n}); import sys; sys.exit({n})", f"log_{n}") for n in range(3)]
ended = []
def done():
    ended.extend(children.reap())
    return len(ended) == 3
until(done)
print(json.dumps([[child.exit.code, child.at > 0] for child in started]))
"""
    assert run(tmp_path, text) == [[0, True], [1, True], [2, True]]
    assert [(tmp_path / f"log_{number}").read_text() for number in range(3)] == ["0\n", "1\n", "2\n"]


def test_all_are_ended_whatever_they_do_against_it(tmp_path: Path) -> None:
    text = """
deaf = "import signal, subprocess, time; signal.signal(15, signal.SIG_IGN); "
deaf += "subprocess.Popen(['sleep', '600'], start_new_session=True); print('ready', flush=True); time.sleep(600)"
started = [start(deaf, "a"), start("import time; print('ready', flush=True); time.sleep(600)", "b")]
until(lambda: all((work / log).read_text() == "ready\\n" for log in "ab"))
ended = children.end()
print(json.dumps([[child.exit.signal for child in started], len(ended), len(children.living())]))
"""
    assert run(tmp_path, text) == [[9, 15], 2, 0]


def test_what_they_leave_behind_is_ended_too(tmp_path: Path) -> None:
    text = """
child = start("import subprocess; subprocess.Popen(['sleep', '600'], start_new_session=True)", "a")
until(lambda: children.reap() or child.exit)
before = len(children.living())
children.end()
print(json.dumps([child.exit.code, before, len(children.living())]))
"""
    assert run(tmp_path, text) == [0, 1, 0]
