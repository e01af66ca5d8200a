"""Folders of this disk that are shown at another place, read-only: bind mounts, which cost nothing however many files
there are. They need root; where they cannot be had, links are made (`runyard.client.data.trees`).

The mount appears read-only at once, and never lets a file through to be changed. Nothing of it goes with its process,
so that each is written down beside the cache before it is made: `<cache>/binds/<random>`, with the process that it is
for. Whoever comes later takes away those of processes that are gone.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from runyard.client.data.mounts import detach, machine, mount_points
from runyard.system.json_files import BadFile, read_object
from runyard.system.processes import alive, started

FOLDER = "binds"

# The same numbers on every architecture that Python is built for here, since Linux 5.12.
_OPEN_TREE, _MOVE_MOUNT, _MOUNT_SETATTR = 428, 429, 442
_HERE, _EMPTY_PATH, _RECURSIVE = -100, 0x1000, 0x8000
_CLONE = 1
_MOVE_FROM_EMPTY_PATH = 4
_READ_ONLY, _NO_SETUID, _NO_DEVICES = 1, 2, 4
_PRIVATE = 1 << 18


class NotBound(Exception):
    """A folder cannot be bound here; the text is why."""


class _Attributes(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("set", "clear", "propagation", "users")]


class Bound:
    """A folder that is shown at a place, until `end`."""

    def __init__(self, place: Path, note: Path) -> None:
        self.place, self._note = place, note

    def end(self) -> None:
        _take_away(str(self.place), self._note)


def possible() -> bool:
    """Whether it is worth trying."""
    return sys.platform == "linux" and os.geteuid() == 0


def bind(folder: Path, place: Path, cache: Path) -> Bound:
    """Show a folder, and what is mounted in it, at an empty folder. NotBound says why that cannot be."""
    notes = cache / FOLDER
    notes.mkdir(parents=True, exist_ok=True, mode=0o700)
    note = notes / os.urandom(8).hex()
    pid = os.getpid()
    note.write_text(
        json.dumps({"place": str(place), "machine": machine(), "pid": pid, "started": started(pid)}), "utf-8"
    )
    try:
        _bind(os.fsencode(folder), os.fsencode(place))
    except OSError as error:
        note.unlink()
        raise NotBound(error.strerror or str(error)) from error
    return Bound(place, note)


def detach_dead(cache: Path) -> list[str]:
    """Take away what is for processes of this machine that are gone; returns the places."""
    found = []
    for note in _notes(cache):
        try:
            document: dict[str, Any] = read_object(note)
            place, pid, start = str(document["place"]), int(document["pid"]), document.get("started")
        except (OSError, BadFile, KeyError, TypeError, ValueError):
            continue  # it is being written
        if document.get("machine") == machine() and not alive(pid, start) and _take_away(place, note):
            found.append(place)
    return found


def detach_below(folder: Path) -> list[str]:
    """Take away whatever is mounted below a folder."""
    below = [place for place in mount_points() if folder in Path(place).parents]
    for place in reversed(below):
        detach(place)
    return below


def _take_away(place: str, note: Path) -> bool:
    there = place in mount_points()
    if there:
        detach(place)
    note.unlink(missing_ok=True)
    return there


def _notes(cache: Path) -> list[Path]:
    with suppress(OSError):
        return [cache / FOLDER / name for name in sorted(os.listdir(cache / FOLDER))]
    return []


def _bind(folder: bytes, place: bytes) -> None:
    call = ctypes.CDLL(None, use_errno=True).syscall
    tree = _must(call(_OPEN_TREE, _HERE, folder, _CLONE | _RECURSIVE | os.O_CLOEXEC))
    try:
        wanted = _Attributes(_READ_ONLY | _NO_SETUID | _NO_DEVICES, 0, _PRIVATE, 0)
        size = ctypes.c_size_t(ctypes.sizeof(wanted))
        _must(call(_MOUNT_SETATTR, tree, b"", _EMPTY_PATH | _RECURSIVE, ctypes.byref(wanted), size))
        _must(call(_MOVE_MOUNT, tree, b"", _HERE, place, _MOVE_FROM_EMPTY_PATH))
    finally:
        os.close(tree)


def _must(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
