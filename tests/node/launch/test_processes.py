from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from runyard.node.launch import processes

Until = Callable[[Callable[[], object], str], None]

DAEMON = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execve('/bin/sleep', ['sleep', '600'], {} if sys.argv[2:] == ['bare'] else os.environ)
    os._exit(0)
os.wait()
open(sys.argv[1], 'w').close()
time.sleep(600)
"""

SUBREAPER = """
import os, signal, subprocess, sys
from runyard.node.launch import processes
processes.adopt_orphans()
child = subprocess.Popen([sys.executable, '-c', sys.argv[1], sys.argv[2], 'bare'], start_new_session=True)
while not os.path.exists(sys.argv[2]):
    assert child.poll() is None
found = processes.below_me('no such cookie')
def pause(seconds):
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass
left = processes.end(lambda: processes.below_me('no such cookie'), 10, pause)
print(len(found), len(left))
"""


CHILDLESS = """
import os, subprocess
from runyard.node.launch import processes
processes.adopt_orphans()
subprocess.run(['true'], check=True)
def every_process():
    raise AssertionError('every process of the machine was looked at')
processes.table = every_process
print(processes.below_me('no such cookie'))
"""


def test_a_process_that_adopts_orphans_and_has_no_child_looks_no_further() -> None:
    found = subprocess.run([sys.executable, "-c", CHILDLESS], stdout=subprocess.PIPE, text=True, check=True)
    assert found.stdout == "[]\n"


def test_a_daemon_is_found_by_its_cookie(tmp_path: Path, until: Until) -> None:
    cookie = os.urandom(8).hex()
    child = subprocess.Popen(
        [sys.executable, "-c", DAEMON, str(tmp_path / "ready")], env={**os.environ, processes.COOKIE: cookie}
    )
    until((tmp_path / "ready").exists, "the daemon")
    child.kill()
    child.wait()
    [daemon] = processes.of_run(cookie, [])
    assert daemon.session != child.pid
    assert processes.end(lambda: processes.of_run(cookie, []), 10, time.sleep) == []
    assert processes.of_run(cookie, []) == []


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets a process adopt orphans")
def test_a_daemon_that_wiped_its_environment_is_found_by_its_place_in_the_tree(tmp_path: Path) -> None:
    result = subprocess.run(
        [sys.executable, "-c", SUBREAPER, DAEMON, str(tmp_path / "ready")],
        stdout=subprocess.PIPE,
        text=True,
        timeout=60,
    )
    assert result.stdout == "2 0\n"


def test_what_lives_in_a_session_is_found_without_a_cookie() -> None:
    child = subprocess.Popen(["/bin/sleep", "600"], env={}, start_new_session=True)
    try:
        assert [process.pid for process in processes.of_run("no such cookie", [child.pid])] == [child.pid]
    finally:
        child.kill()
        child.wait()


def test_sigterm_first_and_only_once_then_sigkill(tmp_path: Path, until: Until) -> None:
    script = (
        "import signal, sys, time\n"
        "signal.signal(signal.SIGTERM, lambda *_: print('term', flush=True))\n"
        "print('ready', flush=True)\n"
        "while True: time.sleep(600)"
    )
    with open(tmp_path / "result", "w") as result:
        child = subprocess.Popen([sys.executable, "-c", script], stdout=result, start_new_session=True)
    until(lambda: "ready" in (tmp_path / "result").read_text(), "the script")

    def find() -> list[processes.Process]:
        child.poll()
        return processes.of_run("no such cookie", [child.pid])

    assert processes.end(find, 0.5, time.sleep) == []
    assert child.returncode == -signal.SIGKILL
    assert (tmp_path / "result").read_text() == "ready\nterm\n"


def test_a_stopped_process_is_ended_too() -> None:
    child = subprocess.Popen(["/bin/sleep", "600"], start_new_session=True)
    child.send_signal(signal.SIGSTOP)

    def find() -> list[processes.Process]:
        child.poll()
        return processes.of_run("no such cookie", [child.pid])

    assert processes.end(find, 60, time.sleep) == []
    assert child.returncode == -signal.SIGTERM


def test_a_process_that_has_ended_is_not_alive() -> None:
    child = subprocess.Popen(["/bin/true"])
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert child.pid not in processes.table()
    child.wait()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux can tie a process to its parent")
def test_a_child_is_killed_with_its_parent(tmp_path: Path, until: Until) -> None:
    script = (
        "import os, subprocess, sys\n"
        "from runyard.system import processes\n"
        "child = subprocess.Popen(['/bin/sleep', '600'], preexec_fn=processes.end_with_parent())\n"
        "print(child.pid, flush=True)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    result = subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, timeout=60)
    pid = int(result.stdout)
    until(lambda: pid not in processes.table(), "the child to be killed")


def test_the_table_knows_this_process() -> None:
    me = processes.table()[os.getpid()]
    assert me.parent == os.getppid()
    assert me.session == os.getsid(0)
    assert os.getpid() in processes.descendants([os.getppid()], processes.table())
