"""Files that nothing names any more, kept for some days before they go for good.

    <folder>/removed/<name>     what lay elsewhere in the folder; its time of change is when it was moved here
    objects/held-back.json      what was too much to be moved aside unasked

A database that is not the right one names nothing of what its folder holds. So what nothing names is not removed at
once: whoever puts the right database back in time has lost nothing.
"""

from __future__ import annotations

import json
import os
import time
from dataclasses import asdict, dataclass
from datetime import timedelta
from pathlib import Path

FOLDER = "removed"
KEPT_FOR = timedelta(days=7)
HELD = "held-back.json"


@dataclass(frozen=True)
class Held:
    """What the last sweep would have moved aside, and did not: it was most of what there is."""

    files: int
    bytes: int
    of: int


@dataclass(frozen=True)
class Waiting:
    """One file that waits to be removed for good, and since when (seconds since 1970)."""

    name: str
    size: int
    since: float


class Aside:
    """The corner of a folder for what was moved aside. It is made when the first file comes."""

    def __init__(self, parent: Path) -> None:
        self.folder = parent / FOLDER
        self._root = str(self.folder)

    def take(self, path: Path, name: str) -> None:
        """Move a file here. FileNotFoundError when it is not there (any more)."""
        self.folder.mkdir(exist_ok=True, mode=0o700)
        os.utime(path)
        os.replace(path, self.folder / name)

    def give_back(self, name: str, path: str | Path) -> None:
        """Move a file back, if it is here."""
        here = f"{self._root}/{name}"  # a plain string: a new snapshot asks for thousands of objects that are not here
        try:
            os.utime(here)  # as if it had just come: it waits to be named
            os.replace(here, path)
        except FileNotFoundError:
            return

    def waiting(self) -> list[Waiting]:
        """All that is here."""
        found = []
        try:
            entries = os.scandir(self.folder)
        except FileNotFoundError:
            return []
        with entries:
            for entry in entries:
                try:
                    status = entry.stat()
                except FileNotFoundError:
                    continue
                found.append(Waiting(entry.name, status.st_size, status.st_mtime))
        return found

    def remove(self, kept_for: float) -> int:
        """Remove for good what has waited for that many seconds; returns the bytes that came free."""
        freed = 0
        for each in self.waiting():
            if time.time() - each.since >= kept_for:
                (self.folder / each.name).unlink(missing_ok=True)
                freed += each.size
        return freed


def held_back(objects: Path) -> Held | None:
    """What the last sweep of an objects folder has held back. No server need run for that, and no database be read."""
    try:
        said = json.loads((objects / HELD).read_text("utf-8"))
        return Held(int(said["files"]), int(said["bytes"]), int(said["of"]))
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None


def remember(objects: Path, held: Held | None) -> None:
    """Write down what a sweep has held back, or that there is nothing of that kind (any more)."""
    path = objects / HELD
    if held is None:
        path.unlink(missing_ok=True)
        return
    part = path.with_suffix(".part")
    part.write_text(json.dumps(asdict(held)), "utf-8")
    os.replace(part, path)
