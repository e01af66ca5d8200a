"""Files that no row names any more, which are removed for good after some days.

    <folder>/removed/<name>     was elsewhere in the folder; its time of change is when it was moved
    objects/held-back.json      what was too much to be moved aside unasked

The rows of a wrong database name none of the files in the folder. So files without a row are not removed at once:
whoever puts the right database back in time has lost nothing.
"""

from __future__ import annotations

import json
import os
import time
from dataclasses import asdict, dataclass
from datetime import timedelta
from pathlib import Path

FOLDER = "removed"
RETENTION = timedelta(days=7)
"""How long a file that was moved aside can be brought back."""
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
    """The subfolder for files that were moved aside. It is created with the first one."""

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

    def remove(self, retention: float) -> int:
        """Remove for good what has waited for that many seconds; returns the bytes that came free."""
        freed = 0
        for each in self.waiting():
            if time.time() - each.since >= retention:
                (self.folder / each.name).unlink(missing_ok=True)
                freed += each.size
        return freed


def held_back(objects: Path) -> Held | None:
    """What the last sweep of an objects folder held back. Needs neither a server nor the database."""
    try:
        document = json.loads((objects / HELD).read_text("utf-8"))
        return Held(int(document["files"]), int(document["bytes"]), int(document["of"]))
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None


def remember(objects: Path, held: Held | None) -> None:
    """Store what a sweep held back; None removes the note."""
    path = objects / HELD
    if held is None:
        path.unlink(missing_ok=True)
        return
    part = path.with_suffix(".part")
    part.write_text(json.dumps(asdict(held)), "utf-8")
    os.replace(part, path)
