"""Numbers of a worker, and their form for Prometheus.

Each worker counts for itself. Where a service has several, each leaves its numbers in a file beside the others', and
whichever is asked answers for all of them.
"""

from __future__ import annotations

import bisect
import contextlib
import glob
import json
import os
import time
from typing import Any

from runyard.serving.left_files import leave
from runyard.serving.memory import memory_of

EDGES = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""The upper edges of the histograms' buckets, in seconds."""

WRITE_SECONDS = 1.0

_HELP = {
    "requests_total": ("counter", "Requests, by route and status."),
    "refused_total": ("counter", "Requests that were refused because too many waited, or for too long."),
    "request_seconds": ("histogram", "From the last byte of a request to the first of its answer."),
    "call_seconds": ("histogram", "How long the user's code, or the model, took."),
    "batch_rows_total": ("counter", "Rows that went through the model in batches."),
    "batches_total": ("counter", "Batches that went through the model."),
    "calls_running": ("gauge", "Calls of the user's code, or the model, that are under way."),
    "calls_waiting": ("gauge", "Requests that wait for such a call."),
    "connections": ("gauge", "Open connections."),
    "memory_bytes": ("gauge", "Resident memory of the worker."),
    "cpu_seconds_total": ("counter", "Processor time of the worker."),
    "start_time_seconds": ("gauge", "When the worker was started."),
}


class Histogram:
    def __init__(self) -> None:
        self.counts, self.sum = [0] * (len(EDGES) + 1), 0.0

    def add(self, seconds: float) -> None:
        self.counts[bisect.bisect_left(EDGES, seconds)] += 1
        self.sum += seconds


class Metrics:
    """Only the thread that leads changes these."""

    def __init__(self, labels: dict[str, object], place: str = "") -> None:
        self._labels, self._place = labels, place
        self._started = time.time()
        self._written = 0.0
        self.requests: dict[tuple[str, int], int] = {}
        self.refused: dict[str, int] = {}
        self.request_seconds: dict[str, Histogram] = {}
        self.call_seconds = Histogram()
        self.batches = self.batch_rows = 0
        self.running = self.waiting = self.connections = 0

    def answered(self, route: str, status: int, seconds: float) -> None:
        key = route, status
        self.requests[key] = self.requests.get(key, 0) + 1
        histogram = self.request_seconds.get(route)
        if histogram is None:
            histogram = self.request_seconds[route] = Histogram()
        histogram.add(seconds)

    def refuse(self, reason: str) -> None:
        self.refused[reason] = self.refused.get(reason, 0) + 1

    def samples(self) -> list[list[Any]]:
        """[name, labels, value] each, with this worker's own labels in front."""
        found: list[list[Any]] = [
            ["requests_total", {"route": route, "status": status}, count]
            for (route, status), count in sorted(self.requests.items())
        ]
        found += [["refused_total", {"reason": reason}, count] for reason, count in sorted(self.refused.items())]
        for route, histogram in sorted(self.request_seconds.items()):
            found += _of_histogram("request_seconds", {"route": route}, histogram)
        found += _of_histogram("call_seconds", {}, self.call_seconds)
        times = os.times()
        plain = {
            "batches_total": self.batches,
            "batch_rows_total": self.batch_rows,
            "calls_running": self.running,
            "calls_waiting": self.waiting,
            "connections": self.connections,
            "memory_bytes": memory_of(os.getpid()),
            "cpu_seconds_total": times.user + times.system,
            "start_time_seconds": self._started,
        }
        found += [[name, {}, value] for name, value in plain.items()]
        return [[name, {**self._labels, **labels}, value] for name, labels, value in found]

    def share(self, now: float) -> None:
        """Leave the numbers for the other workers, at most once in a while."""
        if self._place and now - self._written > WRITE_SECONDS:
            self._written = now
            leave(f"{self._place}.{self._labels.get('worker')}", self.samples())

    def text(self) -> str:
        """In the form that Prometheus reads."""
        samples = self.samples() + self._of_others()
        lines = []
        for name, (kind, help_text) in _HELP.items():
            lines += [f"# HELP runyard_service_{name} {help_text}", f"# TYPE runyard_service_{name} {kind}"]
            for each, labels, value in samples:
                if each == name or (kind == "histogram" and each.rpartition("_")[0] == name):
                    shown = ",".join(f'{label}="{_escaped(str(text))}"' for label, text in labels.items())
                    lines.append(f"runyard_service_{each}{{{shown}}} {value}")
        return "\n".join(lines) + "\n"

    def _of_others(self) -> list[list[Any]]:
        found: list[list[Any]] = []
        if self._place:
            own = str(self._labels.get("worker"))
            for path in glob.glob(f"{glob.escape(self._place)}.*"):
                if path.rpartition(".")[2] not in (own, "new"):
                    with contextlib.suppress(OSError, ValueError), open(path, encoding="utf-8") as file:
                        found += json.load(file)
        return found


def _of_histogram(name: str, labels: dict[str, object], histogram: Histogram) -> list[list[Any]]:
    found: list[list[Any]] = []
    total = 0
    for edge, count in zip((*map(str, EDGES), "+Inf"), histogram.counts):
        total += count
        found.append([f"{name}_bucket", {**labels, "le": edge}, total])
    found.append([f"{name}_sum", labels, histogram.sum])
    found.append([f"{name}_count", labels, total])
    return found


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
