"""Looking for TensorBoard's event files in the folders that a script writes to; their scalars become series of the run.

Nothing that reading them needs is loaded before the first one is found.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Iterator, Sequence

from runyard.node.delivery.batch import Batch
from runyard.system.folders import walk

if TYPE_CHECKING:
    from runyard.node.delivery.event_file_reader import EventFileReader

MARK = "tfevents"  # in the name of every event file
LOOK_EVERY = 0.5  # seconds; a large tree less often
AT_ONCE = 4 << 20  # bytes of all files in one look: everything else has its turn in between
MOST_TAGS = 10_000  # of one run


class EventFiles:
    """Those below some folders. What they gain is written into the journals of a telemetry folder, which are delivered
    as those of the script are."""

    def __init__(self, folders: Sequence[Path], telemetry: Path, run_id: str) -> None:
        self._folders, self._telemetry, self._run_id = folders, telemetry, run_id
        self._readers: dict[str, EventFileReader] = {}
        self._looks: dict[str, tuple[int, int, int]] = {}  # how a file looked when all of it had been read
        self._tags: set[str] = set()
        self._too_many = ""
        self._next = 0.0

    @property
    def warnings(self) -> list[str]:
        found = [reader.warning for reader in self._readers.values() if reader.warning is not None]
        return [*found, self._too_many] if self._too_many else found

    def gather(self, batch: Batch) -> None:
        began = time.monotonic()
        if began >= self._next:
            more = self._read()
            batch.more |= more
            self._next = began if more else began + max(LOOK_EVERY, 50 * (time.monotonic() - began))

    def gather_rest(self, batch: Batch) -> None:
        batch.more |= self._read()

    def _read(self) -> bool:
        """Whether anything was written, so that the journals have something new."""
        left, wrote = AT_ONCE, False
        for path, look in self._changed():
            reader = self._reader(path)
            while left > 0:
                position = reader.position
                wrote = reader.read_some() or wrote
                left -= max(0, reader.position - position)
                if reader.position <= position:  # the rest of it is not written yet, or not to be read
                    self._looks[path] = look
                    break
        return wrote or left <= 0

    def _changed(self) -> Iterator[tuple[str, tuple[int, int, int]]]:
        for folder in self._folders:
            for place, _, names in walk(str(folder)):
                for name in names:
                    if MARK in name:
                        path = os.path.join(place, name)
                        try:
                            status = os.stat(path)
                        except OSError:
                            continue  # it was removed since
                        look = status.st_ino, status.st_size, status.st_mtime_ns
                        if self._looks.get(path) != look:
                            yield path, look

    def _reader(self, path: str) -> EventFileReader:
        reader = self._readers.get(path)
        if reader is None:
            from runyard.node.delivery.event_file_reader import EventFileReader

            folder = next(str(each) for each in self._folders if path.startswith(f"{each}{os.sep}"))
            below = os.path.dirname(os.path.relpath(path, folder))
            name = os.path.relpath(path, os.path.dirname(folder))
            prefix = f"{below}/" if below else ""
            reader = EventFileReader(path, name, prefix, self._telemetry, self._run_id, self._admits)
            self._readers[path] = reader
        return reader

    def _admits(self, tag: str) -> bool:
        if tag in self._tags:
            return True
        if len(self._tags) >= MOST_TAGS:
            self._too_many = f"The event files of this run have more than {MOST_TAGS:,} tags: no more are drawn."
            return False
        self._tags.add(tag)
        return True
