"""The package caches that outlive environments: where they are, and how to free them.

uv puts the files of a package into its cache once, and into each environment as hard links. So an environment that is
removed frees little while the cache is there; in return the next one with the same packages is built at once.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runyard.environments.cache import Entry

SECONDS = 20


@dataclass(frozen=True)
class PackageCache:
    """`folder` is empty where the tool does not tell."""

    tool: str
    folder: str
    free_with: str


def uv_cache() -> PackageCache | None:
    """The cache of uv, in the folder that `uv cache dir` prints."""
    import subprocess

    from runyard.environments import tools

    program = tools.find("uv")
    if program is None:
        return None
    try:
        answer = subprocess.run([program, "cache", "dir"], capture_output=True, text=True, timeout=SECONDS, check=False)
    except (OSError, subprocess.SubprocessError):
        return None
    folder = answer.stdout.strip()
    if answer.returncode or not folder:
        return None
    found = shutil.which("uv")
    typed = "uv" if found and os.path.realpath(found) == os.path.realpath(program) else str(program)
    return PackageCache("uv", folder, f"{typed} cache clean")


def of(entries: Iterable[Entry]) -> list[PackageCache]:
    """The caches that hold what these environments were built from."""
    built_by = {entry.builder for entry in entries}
    found = []
    if built_by & {"uv", "conda"}:  # what conda environments have from pip, uv has installed
        uv = uv_cache()
        found += [uv] if uv is not None and Path(uv.folder).is_dir() else []
    if "conda" in built_by:
        found.append(PackageCache("conda", "", _clean("conda")))
    if "container" in built_by:
        found.append(PackageCache("the container engine", "", "docker system prune"))
    return found


def _clean(default: str) -> str:
    from runyard.environments import tools

    program = tools.find_conda()
    return f"{program.name if program is not None else default} clean --all"
