"""What MLflow's client logs to a run, stored in one transaction: metrics, parameters and tags.

Points become lines of a journal, as those of every run are, and are staged with the lines of live runs.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from runyard.contracts import journal, names
from runyard.store.database import Database
from runyard.store.errors import Refused
from runyard.store.metrics import batches, series, staging
from runyard.store.metrics.staging import Staged
from runyard.store.mlflow import repeats
from runyard.store.runs import labels, parameters

WRITER = journal.MLFLOW
"""Who has written these lines: there is no journal of that name, whose bytes would be counted."""


@dataclass(frozen=True)
class Point:
    """A value of a metric. `time` is in seconds."""

    name: str
    value: float
    time: float
    step: int | None


def put(
    connection: Connection,
    run: int,
    points: Sequence[Point] = (),
    given: Mapping[str, str] | None = None,
    tags: Mapping[str, str] | None = None,
) -> int:
    """Store what was logged; returns the bytes that are staged. Nothing of it is stored when a parameter has another
    value already."""
    labels.check_number(given, tags)
    if given:
        if any(not key.strip() for key in given):
            raise Refused("bad_request", "A parameter needs a name: the one given is empty.")
        parameters.add(connection, run, given)
    if tags:
        labels.put_tags(connection, run, tags)
    if not points:
        return 0
    lines = "".join(_lines(points)).encode("utf-8", "surrogatepass")
    if len(lines) <= staging.SMALL:
        staging.add(connection, [Staged(run, WRITER, lines)])
        return len(lines)
    staging.fold(connection, run)
    series.add(connection, run, repeats.dropped(connection, run, batches.parse(lines, 0)))
    return 0


def _lines(points: Sequence[Point]) -> Iterator[str]:
    """Lines of a journal, as `journal.line` makes them: a batch of a thousand takes a third of its time."""
    begun: dict[str, str] = {}  # how the lines of a metric begin
    for point in points:
        head = begun.get(point.name)
        if head is None:
            if not point.name.strip():
                raise Refused("bad_request", "A metric needs a name: the one given is empty.")
            head = begun[point.name] = journal.line(journal.VALUE, point.name).decode("utf-8", "surrogatepass")[:-2]
        step = "null" if point.step is None else str(point.step)
        if point.step is not None and not -(2**63) < point.step < 2**63:
            title = f"The step {names.shown(step)} of the metric {names.shown(point.name)} has more than 64 bits."
            raise Refused("bad_request", title)
        yield f"{head},{journal.encode_float(float(point.value))},{float.__repr__(point.time)},{step}]\n"


class Pending:
    """How much is staged for each run by this server, so that it becomes points before it is much. Any thread may
    call."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._bytes: dict[int, int] = {}
        self._lock = threading.Lock()

    def added(self, run: int, size: int) -> None:
        if not size:
            return
        with self._lock:
            total = self._bytes.get(run, 0) + size
            self._bytes[run] = 0 if total >= staging.ENOUGH else total
        if total >= staging.ENOUGH:
            self.settle(run)

    def settle(self, run: int) -> None:
        with self._lock:
            self._bytes.pop(run, None)
        with self._database.write() as connection:
            staging.fold(connection, run)
