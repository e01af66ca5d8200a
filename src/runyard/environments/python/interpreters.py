"""Which Pythons are installed on this machine, and of what version. Which one is taken is not decided here.

A Python is started once to print its version; that is remembered with its path until its file changes.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Iterator, Tuple

from runyard.environments.remembered import Remembered

Version = Tuple[int, int, int]

MINIMUM = (3, 8)
"""The oldest that is built for: what uv supports, and what the SDK that is put in reach of a run needs."""

MEMORY = "interpreters.json"

_NAMES = re.compile(r"python(3(\.\d+)?)?")
_ANSWERS_WITHIN = 20.0
_QUESTION = """
import os, sys
name = "python%d.%d" % sys.version_info[:2]
base = getattr(sys, "base_prefix", sys.prefix)
found = os.path.join(base, "bin", name)
if sys.prefix == base or not os.path.exists(found):
    found = getattr(sys, "_base_executable", None) or sys.executable
print(sys.implementation.name, "%d.%d.%d" % sys.version_info[:3], found)
"""


@dataclass(frozen=True)
class Interpreter:
    """A Python that is installed; of a virtual environment, the one below it."""

    path: str
    version: Version

    @property
    def text(self) -> str:
        return ".".join(map(str, self.version))

    @property
    def minor(self) -> str:
        return ".".join(map(str, self.version[:2]))

    @property
    def usable(self) -> bool:
        return self.version[:2] >= MINIMUM


def running() -> Interpreter:
    """The Python that runs this, without asking it."""
    version = (sys.version_info[0], sys.version_info[1], sys.version_info[2])
    below = os.path.join(sys.base_prefix, "bin", f"python{version[0]}.{version[1]}")
    if sys.prefix == sys.base_prefix:
        return Interpreter(sys.executable, version)
    return Interpreter(below if os.path.exists(below) else getattr(sys, "_base_executable", sys.executable), version)


def installed(memory: Path) -> list[Interpreter]:
    """All CPythons that are found: the running one first, then the highest version first. `memory` is a folder."""
    known = Remembered(memory / MEMORY)
    found: dict[str, Interpreter] = {}
    for path in _candidates():
        interpreter = _understood(known.answer(path, partial(_ask, path)))
        if interpreter is not None:
            found.setdefault(os.path.realpath(interpreter.path), interpreter)
    known.save()
    first = running()
    found.pop(os.path.realpath(first.path), None)
    return [first, *sorted(found.values(), key=lambda each: each.version, reverse=True)]


def ask(path: str) -> Interpreter | None:
    """What the Python at a path is; None when it is none, or not CPython."""
    return _understood(_ask(path))


def _candidates() -> list[str]:
    """Files that are Pythons by their name. pyenv's shims are scripts that only pass on: its versions count."""
    folders = [Path(folder) for folder in os.environ.get("PATH", "").split(os.pathsep) if folder]
    folders += [Path("/usr/bin"), Path("/usr/local/bin"), *_version_folders()]
    paths = [os.path.abspath(each) for folder in folders if folder.name != "shims" for each in _pythons(folder)]
    return list(dict.fromkeys(paths))


def _version_folders() -> Iterator[Path]:
    pyenv = Path(os.environ.get("PYENV_ROOT") or "~/.pyenv").expanduser() / "versions"
    for root in (pyenv, managed_folder()):
        if root.is_dir():
            yield from (each / "bin" for each in sorted(root.iterdir()) if not each.is_symlink())


def managed_folder() -> Path:
    """Where uv installs the Pythons that it has fetched."""
    own = os.environ.get("UV_PYTHON_INSTALL_DIR")
    return Path(own or Path(os.environ.get("XDG_DATA_HOME") or "~/.local/share") / "uv/python").expanduser()


def _pythons(folder: Path) -> list[Path]:
    try:
        found = [each for each in folder.iterdir() if _NAMES.fullmatch(each.name) and os.access(each, os.X_OK)]
    except OSError:
        return []  # PATH may name what is not there, or not ours to read
    longest = max((len(each.name) for each in found), default=0)
    many = [each for each in found if len(each.name) >= len("python3.1")]
    return sorted(many) if many else [each for each in found if len(each.name) == longest]


def _ask(path: str) -> list[str]:
    try:
        answer = subprocess.run(
            [path, "-E", "-c", _QUESTION],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_ANSWERS_WITHIN,
        )
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return []
    return answer.stdout.strip().split(" ", 2) if answer.returncode == 0 else []


def _understood(answer: list[str]) -> Interpreter | None:
    if len(answer) != 3 or answer[0] != "cpython" or not re.fullmatch(r"\d+\.\d+\.\d+", answer[1]):
        return None
    major, minor, patch = map(int, answer[1].split("."))
    return Interpreter(answer[2], (major, minor, patch))
