"""What a gateway has to do for each version, for whoever scales it: in the form of the numbers that workers leave."""

from __future__ import annotations

import time

from runyard.serving.left_files import leave

NAMES = ("call_seconds_sum", "calls_running", "calls_waiting")


class VersionLoad:
    def __init__(self) -> None:
        self.running = self.waiting = 0
        self._seconds, self._since = 0.0, time.monotonic()

    @property
    def seconds(self) -> float:
        """Seconds that requests have taken, added up, those under way included."""
        self._count()
        return self._seconds

    def change(self, running: int = 0, waiting: int = 0) -> None:
        self._count()
        self.running += running
        self.waiting += waiting

    def _count(self) -> None:
        now = time.monotonic()
        self._seconds += self.running * (now - self._since)
        self._since = now


class Loads:
    """The load of all versions, left in a file every second."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._versions: dict[str, VersionLoad] = {}

    def of(self, version: str) -> VersionLoad:
        return self._versions.setdefault(version, VersionLoad())

    @property
    def waiting(self) -> int:
        return sum(each.waiting for each in self._versions.values())

    @property
    def running(self) -> int:
        return sum(each.running for each in self._versions.values())

    def write(self) -> None:
        samples = []
        for version, load in self._versions.items():
            values = (load.seconds, load.running, load.waiting)
            samples += [[name, {"version": version}, value] for name, value in zip(NAMES, values)]
        leave(self._path, samples)
