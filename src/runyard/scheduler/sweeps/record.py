"""What a sweep writes down about itself: its log, and the best child so far."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime, timezone

from sqlalchemy import Connection

from runyard.contracts import journal
from runyard.contracts.history import SWEEP_LOG as LOG
from runyard.contracts.secrets import mask
from runyard.contracts.sweeps.sweep import BEST_TABLE
from runyard.scheduler.sweeps.trials import Trial
from runyard.store.content import files
from runyard.store.metrics import journals
from runyard.store.runs import labels, runs
from runyard.store.store import Store

API, GENERATOR, SCHEDULER, CONTROLLER = "API", "GENERATOR", "SCHEDULER", "CONTROLLER"
WRITER = "sweep"
"""The writer of the journal with the metrics of the parent."""


class SweepLog:
    """`azureml-logs/hyperdrive.txt` of a sweep, in the form of SDK v1. Lines wait until they are written."""

    def __init__(self, store: Store, run_id: str, grown: Callable[[str, str, int], None]) -> None:
        self._store, self._run_id, self._grown = store, run_id, grown
        self._lines: list[str] = []
        self._size: int | None = None

    def say(self, source: str, text: str, level: str = "INFO") -> None:
        now = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%f")
        self._lines.append(f"[{now}][{source}][{level}]{mask(text)}")

    def write(self) -> None:
        """Store the lines so far."""
        if not self._lines:
            return
        if self._size is None:
            with self._store.database.read() as connection:
                self._size = sum(each.size for each in files.find(connection, self._run_id, LOG))
        data = "".join(f"{line}\n" for line in self._lines).encode("utf-8", "replace")
        self._size = files.append(self._store, self._run_id, LOG, self._size, data)
        self._lines.clear()
        self._grown(self._run_id, LOG, self._size)


def store_best(connection: Connection, run_id: str, best: Trial, final: bool) -> None:
    """Enter the best child into the properties and the metrics of a sweep."""
    value = best.best
    serial = runs.serial_of(connection, run_id)
    texts = {"score": str(value), "best_child_run_id": best.run_id, "best_metric_status": "Succeeded"}
    labels.put(connection, serial, labels.PROPERTY, texts)
    row = {"run_id": [best.run_id], "metric_value": [journal.pack_value(value)], "final": [final]}
    line = journal.line(journal.TABLE, BEST_TABLE, row, time.time())
    journals.accept(connection, run_id, WRITER, journals.confirmed(connection, run_id, WRITER), line)
