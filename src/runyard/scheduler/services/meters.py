"""How busy replicas are, from the numbers that their processes leave beside `status.json` every second.

What counts is the time that calls took, not how many are under way at the moment of a look: a call of two milliseconds
that is seen by chance is no load. A call that goes on from one look to the next counts as one that is under way.
"""

from __future__ import annotations

import glob
import json
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runyard.scheduler.services.scaling import Load

FRESH = 2.5
"""Seconds for which the number of requests that wait is believed."""


@dataclass(frozen=True)
class _Look:
    at: float  # when the file was written
    seconds: float
    running: int
    waiting: int


class Meter:
    """The load of one replica's processes, by version where it is a gateway."""

    def __init__(self, folder: Path) -> None:
        self._pattern = glob.escape(str(folder / "serving" / "status.json.metrics")) + ".*"
        self._before: dict[tuple[str, str], _Look] = {}
        self._last: dict[tuple[str, str], float] = {}

    def load(self, version: str | None = None) -> Load:
        """What was done since the last look, of one version or of all."""
        busy = waiting = 0.0
        for path in glob.glob(self._pattern):
            if not path.rpartition(".")[2].isdecimal():
                continue
            for name, look in _read(path).items():
                if version is not None and name not in ("", version):
                    continue
                busy += self._busy((path, name), look)
                waiting += look.waiting if time.time() - look.at < FRESH else 0
        return Load(busy, waiting)

    def _busy(self, key: tuple[str, str], look: _Look) -> float:
        before = self._before.get(key)
        if before is None or look.at <= before.at:
            if before is None:
                self._before[key] = look
            quiet = before is not None and time.time() - before.at > FRESH
            return 0.0 if quiet else self._last.get(key, 0.0)
        self._before[key] = look
        passed = look.at - before.at
        worked = max(0.0, look.seconds - before.seconds) / passed
        if worked == 0.0 and min(look.running, before.running) > 0:
            worked = float(min(look.running, before.running))
        self._last[key] = worked
        return worked


def _read(path: str) -> dict[str, _Look]:
    """By version, which is empty for a worker."""
    try:
        with open(path, encoding="utf-8") as file:
            samples: list[Any] = json.load(file)
            at = os.fstat(file.fileno()).st_mtime
        found: dict[str, dict[str, float]] = {}
        for name, labels, value in samples:
            found.setdefault(str(labels.get("version", "")), {})[name] = value
    except (OSError, ValueError, TypeError, AttributeError):
        return {}
    return {
        version: _Look(
            at,
            float(values.get("call_seconds_sum", 0.0)),
            int(values.get("calls_running", 0)),
            int(values.get("calls_waiting", 0)),
        )
        for version, values in found.items()
    }
