"""Folders that are mounted lazily: started, ended, and taken away when their process is gone.

The process of a mount (`runyard.client.data.filesystem`) runs in an interpreter that has `mfusepy`; nothing is
installed for it. The kernel's list of mounts names it, so that whoever comes later sees whether it lives.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Callable, Mapping, Sequence

from runyard.contracts.home import write_private
from runyard.system.processes import alive, started

TYPE = "fuse.runyard"
DEVICE = "/dev/fuse"
READY_WITHIN = 30.0
GONE_WITHIN = 5.0

_CODE = """import sys; sys.path.insert(0, sys.argv[1])
from runyard.client.data.filesystem import main; main(sys.argv[2])"""
_MNT_DETACH = 2


class NotMounted(Exception):
    """A folder cannot be mounted here; the text is why."""


class Mounted:
    """A folder that is mounted, until `end`."""

    def __init__(self, place: Path, process: subprocess.Popen[bytes]) -> None:
        self.place, self.pid = place, process.pid
        self._process, self._started = process, started(process.pid)

    @property
    def lives(self) -> bool:
        return alive(self.pid, self._started)

    def end(self) -> None:
        """Unmount it. Nothing of it stays, whatever its process does."""
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.close()
        deadline = time.monotonic() + GONE_WITHIN
        while self.lives and time.monotonic() < deadline:
            time.sleep(0.01)
        if self.lives:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
        if any(place == str(self.place) for _, place in _mounts()):
            detach(str(self.place))
        with suppress(ChildProcessError, subprocess.TimeoutExpired):
            self._process.wait(1)


def mount(
    place: Path,
    files: Sequence[Mapping[str, Any]],
    cache: Path,
    sdk: Path,
    pythons: Sequence[str],
    renewal: Mapping[str, Any] | None = None,
    check: Callable[[], None] = lambda: None,
) -> Mounted:
    """Mount files at an empty folder; each has, as `at`, its path in it. NotMounted says why that cannot be."""
    if not os.path.exists(DEVICE):
        raise NotMounted(f"there is no {DEVICE}")
    if not os.access(DEVICE, os.R_OK | os.W_OK) and shutil.which("fusermount3") is None:
        raise NotMounted(f"{DEVICE} may not be opened, and there is no fusermount3")
    order = place.with_name(f".{place.name}.{os.urandom(4).hex()}.order")
    text = json.dumps({"place": str(place), "cache": str(cache), "files": list(files), "renewal": renewal})
    said = "no Python here has mfusepy (the extra runyard[mount])"
    for python in dict.fromkeys(each for each in pythons if each and os.access(each, os.X_OK)):
        write_private(order, text)
        try:
            return _start(python, sdk, order, place, check)
        except NotMounted as why:
            said = str(why)
        finally:
            order.unlink(missing_ok=True)
    raise NotMounted(said)


def _start(python: str, sdk: Path, order: Path, place: Path, check: Callable[[], None]) -> Mounted:
    hidden = ("RUNYARD_COOKIE",)  # it is no process of the run, and is not ended with those
    process = subprocess.Popen(
        [python, "-I", "-c", _CODE, str(sdk), str(order)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=None,
        env={name: value for name, value in os.environ.items() if name not in hidden},
        start_new_session=True,
    )
    assert process.stdout is not None
    mounted = Mounted(place, process)
    try:
        os.set_blocking(process.stdout.fileno(), False)
        deadline = time.monotonic() + READY_WITHIN
        while True:
            check()
            if process.stdout.read(100):
                return mounted
            if not mounted.lives:
                raise NotMounted(f"{python} could not mount it: the run's log may tell why")
            if time.monotonic() > deadline:
                raise NotMounted(f"it was not mounted within {READY_WITHIN:.0f} s")
            time.sleep(0.005)
    except BaseException:
        mounted.end()
        raise
    finally:
        process.stdout.close()


def source_of(pid: int) -> str:
    """What the kernel's list of mounts shows as the device of a mount: its process."""
    return f"runyard:{machine()}:{pid}:{started(pid)}"


def detach(place: str) -> None:
    """Unmount a folder, also one whose files are open or whose process is gone."""
    if sys.platform == "linux" and os.geteuid() == 0:
        import ctypes

        ctypes.CDLL(None, use_errno=True).umount2(os.fsencode(place), _MNT_DETACH)
        return
    program = shutil.which("fusermount3") or "fusermount3"
    with suppress(OSError):
        subprocess.run([program, "-u", "-z", "-q", place], check=False, stderr=subprocess.DEVNULL)


def detach_dead() -> list[str]:
    """Unmount the folders of this machine whose processes are gone; returns which."""
    found = []
    for source, place in _mounts():
        _, where, pid, start = (source.split(":") + [""] * 4)[:4]
        if where == machine() and pid.isdigit() and not alive(int(pid), start):
            detach(place)
            found.append(place)
    return found


def detach_below(folder: Path) -> list[str]:
    """Unmount what is mounted below a folder; a process that sees that its runner is gone does it itself."""
    deadline = time.monotonic() + GONE_WITHIN
    while True:
        below = [place for _, place in _mounts() if folder in Path(place).parents]
        if not below:
            return []
        if time.monotonic() > deadline or detach_dead():
            break
        time.sleep(0.02)
    for place in below:
        detach(place)
    return below


def mount_points() -> list[str]:
    """Every place where something is mounted, of whatever kind, in the order of the mounts."""
    return [_plain(line[1]) for line in _lines()]


def _mounts() -> list[tuple[str, str]]:
    """Source and place of each mount of this kind."""
    return [(_plain(line[0]), _plain(line[1])) for line in _lines() if line[2] == TYPE]


def _lines() -> list[list[str]]:
    try:
        with open("/proc/self/mounts", encoding="utf-8", errors="surrogateescape") as file:
            return [words for words in (line.split(" ") for line in file) if len(words) > 2]
    except OSError:
        return []


def _plain(text: str) -> str:
    """
    >>> _plain("/a\\\\040b")
    '/a b'
    """
    for code in ("040", "011", "012", "134"):
        text = text.replace(f"\\{code}", chr(int(code, 8)))
    return text


def machine() -> str:
    """This machine since its boot, as far as process ids are the same."""
    import hashlib

    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            text = f"{file.read().strip()} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        text = os.uname().nodename
    return hashlib.sha256(text.encode()).hexdigest()[:12]
