"""Finding and ending every process of a run, also those that changed their group, their session or their parent.

They are read from /proc on Linux, elsewhere from `ps`. Nothing here knows what the processes are for.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from typing import Callable, Dict, Iterable, NamedTuple

from runyard.system.processes import prctl

COOKIE = "RUNYARD_COOKIE"
HOPELESS_AFTER = 20.0  # seconds after the first SIGKILL; what still lives hangs inside the kernel

_PR_SET_CHILD_SUBREAPER, _PR_GET_CHILD_SUBREAPER = 36, 37


class Process(NamedTuple):
    pid: int
    parent: int
    session: int
    started: str


Table = Dict[int, Process]


def table() -> Table:
    """Every process of this machine that is alive; one that has ended but was not yet reaped is not."""
    if sys.platform == "linux":
        return {process.pid: process for process in _from_proc()}
    return {process.pid: process for process in _from_ps()}


def descendants(roots: Iterable[int], among: Table) -> set[int]:
    """The processes below `roots`, without the roots themselves."""
    children: dict[int, list[int]] = {}
    for process in among.values():
        children.setdefault(process.parent, []).append(process.pid)
    found: set[int] = set()
    queue = list(roots)
    while queue:
        for child in children.get(queue.pop(), ()):
            if child not in found:
                found.add(child)
                queue.append(child)
    return found


def marked(cookie: str, among: Table) -> set[int]:
    """The processes that have the cookie of a run in their environment."""
    if sys.platform != "linux":
        return _marked_by_ps(cookie)
    mark = f"{COOKIE}={cookie}".encode()
    found = set()
    for pid in among:
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                if mark in file.read().split(b"\0"):
                    found.add(pid)
        except OSError:
            continue  # it has ended, or it is another user's
    return found


def of_run(cookie: str, sessions: Iterable[int]) -> list[Process]:
    """What lives of a run that this process did not start: marked by the cookie, or in a session of the run."""
    now = table()
    ours = set(sessions)
    members = {pid for pid, process in now.items() if process.session in ours} | marked(cookie, now)
    return _without_me(members | descendants(members, now), now)


def below_me(cookie: str) -> list[Process]:
    """What lives of a run that this process started: everything below it, or marked by the cookie."""
    if _adopts_orphans() and not has_children():
        return []  # whatever is below this process is below one of its children
    now = table()
    return _without_me(descendants([os.getpid()], now) | marked(cookie, now), now)


def end(find: Callable[[], list[Process]], grace: float, pause: Callable[[float], None]) -> list[Process]:
    """SIGTERM to all that `find` gives, SIGKILL to what is left after `grace` seconds, until nothing is found.

    Each process gets SIGTERM once, also one that shows up late. Returns what even SIGKILL could not end.
    """
    signalled: set[Process] = set()
    patience = time.monotonic() + grace
    delay = 0.005
    while True:
        living = find()
        now = time.monotonic()
        if not living or now > patience + HOPELESS_AFTER:
            return living
        for process in living:
            if now >= patience:
                _send(process.pid, signal.SIGKILL)
            elif process not in signalled:
                _send(process.pid, signal.SIGTERM)
                _send(process.pid, signal.SIGCONT)  # a stopped process would not see it
                signalled.add(process)
        pause(delay)
        delay = min(delay * 1.5, 0.1)


def adopt_orphans() -> None:
    """Make this process the parent of those below it whose own parent ends (Linux; elsewhere the cookie must do)."""
    call = prctl()
    if call is not None:
        call(_PR_SET_CHILD_SUBREAPER, 1)


def _adopts_orphans() -> bool:
    call = prctl()
    if call is None:
        return False
    import ctypes

    adopts = ctypes.c_int(0)
    call(_PR_GET_CHILD_SUBREAPER, ctypes.addressof(adopts))
    return bool(adopts.value)


def has_children() -> bool:
    """Whether there are any, those included that have ended and are not yet reaped."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def _send(pid: int, number: signal.Signals) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return  # it has ended by itself
    except PermissionError:
        return  # it has become another user's; it stays in the list of what could not be ended


def _without_me(pids: Iterable[int], among: Table) -> list[Process]:
    return [among[pid] for pid in sorted(pids) if pid in among and pid != os.getpid()]


def _from_proc() -> Iterable[Process]:
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                text = file.read()
        except OSError:
            continue  # it has ended since the folder was listed
        # The command's name is in brackets and may hold anything: read from the last bracket on.
        fields = text[text.rindex(b")") + 2 :].split()
        if fields[0] not in (b"Z", b"X"):
            yield Process(int(name), int(fields[1]), int(fields[3]), fields[19].decode())


def _from_ps() -> Iterable[Process]:
    for line in _ps("-axo", "pid=,ppid=,sess=,state=,lstart="):
        fields = line.split(None, 4)
        if len(fields) == 5 and not fields[3].startswith("Z"):
            session = int(fields[2]) if fields[2].isdigit() else 0
            yield Process(int(fields[0]), int(fields[1]), session, fields[4].strip())


def _marked_by_ps(cookie: str) -> set[int]:
    mark = f"{COOKIE}={cookie}"
    return {int(line.split(None, 1)[0]) for line in _ps("-axwwEo", "pid=,command=") if mark in line}


def _ps(*options: str) -> list[str]:
    import subprocess

    with subprocess.Popen(["ps", *options], stdout=subprocess.PIPE, text=True) as process:
        lines = process.communicate()[0].splitlines()
    return [line for line in lines if line.split(None, 1)[:1] != [str(process.pid)]]  # it lists itself
