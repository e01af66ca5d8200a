"""Sweeps: what they were asked to do, and their trials. A trial's run has the id of its sweep and its number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

from sqlalchemy import Connection, bindparam, func, insert, select, update

from runyard.contracts.journal import unpack_value
from runyard.contracts.states import TERMINAL
from runyard.contracts.sweeps.sweep import Sweep
from runyard.store import tables
from runyard.store.errors import NotFound
from runyard.store.metrics import series, staging
from runyard.store.metrics.batches import VALUES
from runyard.store.prepared import Prepared
from runyard.store.runs import runs
from runyard.store.tables import sweeps, trials

Json = dict[str, Any]

_ADD_TRIAL = Prepared(insert(trials), ("sweep", "number", "parameters"))
_SET_RESULT = Prepared(
    update(trials)
    .where(trials.c.sweep == bindparam("of"), trials.c.number == bindparam("which"))
    .values(best=bindparam("best"), intervals=bindparam("intervals"))
)


@dataclass(frozen=True)
class StoredSweep:
    """`began_at` is when its time began to count: its start, or its last extension."""

    sweep: Sweep
    child_properties: dict[str, str | None]
    began_at: datetime


@dataclass(frozen=True)
class StoredTrial:
    """`status` is that of its run; None when that was deleted. `best` and `intervals` are known of trials that have
    ended."""

    number: int
    run_id: str
    parameters: Json
    status: str | None
    verdict: str | None
    best: float | None
    intervals: int | None

    @property
    def ended(self) -> bool:
        return self.status is None or self.status in TERMINAL


@dataclass(frozen=True)
class Curve:
    """The values of a metric in the order in which they came, of the rank that logged it first, and how far each
    journal of the run is stored."""

    values: list[Any]
    rank: int | None
    offsets: dict[str, int]


def trial_id(run_id: str, number: int) -> str:
    """
    >>> trial_id("HD_1", 7)
    'HD_1_7'
    """
    return f"{run_id}_{number}"


def create(connection: Connection, run_id: str, sweep: Sweep, child_properties: Mapping[str, str | None]) -> None:
    """Store what a run that was just made is to do."""
    connection.execute(
        insert(sweeps).values(
            run=runs.serial_of(connection, run_id),
            document=sweep.as_dict(),
            child_properties=dict(child_properties),
            began_at=datetime.now(timezone.utc),
        )
    )


def get(connection: Connection, run_id: str) -> StoredSweep:
    row = connection.execute(select(sweeps).where(sweeps.c.run == runs.serial_of(connection, run_id))).first()
    if row is None:
        raise NotFound(
            "no_sweep",
            f"The run {run_id!r} is no sweep.",
            "`runyard sweep ls` lists the sweeps.",
            {"run": run_id},
        )
    return StoredSweep(Sweep.from_dict(row.document), row.child_properties, row.began_at)


def change(connection: Connection, run_id: str, sweep: Sweep) -> None:
    """Ask a sweep for something else; its time begins anew."""
    values = {"document": sweep.as_dict(), "began_at": datetime.now(timezone.utc)}
    connection.execute(update(sweeps).where(sweeps.c.run == runs.serial_of(connection, run_id)).values(values))


def add_trials(connection: Connection, run_id: str, parameters: Mapping[int, Mapping[str, Any]]) -> None:
    """Store trials by their numbers."""
    sweep = runs.serial_of(connection, run_id)
    rows = [{"sweep": sweep, "number": number, "parameters": dict(each)} for number, each in parameters.items()]
    _ADD_TRIAL.run_all(connection, rows)


def set_verdict(connection: Connection, run_id: str, number: int, verdict: str) -> None:
    """Why a policy stops a trial. To be stored before it is stopped."""
    whose = (trials.c.sweep == runs.serial_of(connection, run_id), trials.c.number == number)
    connection.execute(update(trials).where(*whose).values(verdict=verdict))


def set_results(connection: Connection, run_id: str, results: Mapping[int, tuple[float | None, int]]) -> None:
    """What trials that have ended have come to, by number: their best value, and how many they have logged."""
    sweep = runs.serial_of(connection, run_id)
    rows = [
        {"of": sweep, "which": number, "best": best, "intervals": intervals}
        for number, (best, intervals) in results.items()
    ]
    _SET_RESULT.run_all(connection, rows)


def find_trials(connection: Connection, run_id: str) -> list[StoredTrial]:
    """The trials of a sweep, by number."""
    serial = runs.serial_of(connection, run_id)
    children = select(tables.runs.c.id, tables.runs.c.status).where(tables.runs.c.parent_id == run_id)
    statuses = {row.id: row.status for row in connection.execute(children)}
    rows = connection.execute(select(trials).where(trials.c.sweep == serial).order_by(trials.c.number))
    found = []
    for row in rows:
        id = trial_id(run_id, row.number)
        found.append(
            StoredTrial(row.number, id, row.parameters, statuses.get(id), row.verdict, row.best, row.intervals)
        )
    return found


def curve(connection: Connection, run_id: str, metric: str) -> Curve:
    """The values of a metric of a run so far. To be called in a transaction that may write."""
    serial = runs.serial_of(connection, run_id)
    staging.fold(connection, serial)
    stored = select(tables.journals.c.writer, tables.journals.c.offset).where(tables.journals.c.run == serial)
    offsets = {row.writer: row.offset for row in connection.execute(stored)}
    found = [each for each in series.find(connection, run_id, metric, by_rank=True) if each.rows[0].kind == VALUES]
    if not found:
        return Curve([], None, offsets)
    (content,) = series.contents(connection, found[:1])
    return Curve([unpack_value(value) for value in content.get("values", [])], found[0].rows[0].rank, offsets)


def metric_names(connection: Connection, run_id: str, most: int = 20) -> list[str]:
    """The names of the metrics that the children of a sweep have logged, those that came first. What is staged for them
    is to be settled before."""
    columns = tables.series.c
    query = select(columns.name).join(tables.runs).where(tables.runs.c.parent_id == run_id, series.is_of())
    query = query.group_by(columns.name).order_by(func.min(columns.serial)).limit(most)
    return list(connection.scalars(query))
