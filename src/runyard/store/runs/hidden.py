"""Runs that are put away: no list has them, and they can be brought back. `MlflowClient.delete_run` does it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timezone

from sqlalchemy import ColumnElement, Connection, delete, exists, insert, select

from runyard.store import lookups
from runyard.store.tables import hidden_runs, runs

_OF_RUNS = "SELECT run FROM hidden_runs WHERE run IN ({keys})"


def hide(connection: Connection, serial: int) -> None:
    if connection.scalar(select(hidden_runs.c.run).where(hidden_runs.c.run == serial)) is None:
        connection.execute(insert(hidden_runs).values(run=serial, at=datetime.now(timezone.utc)))


def show(connection: Connection, serial: int) -> None:
    connection.execute(delete(hidden_runs).where(hidden_runs.c.run == serial))


def among(connection: Connection, serials: Iterable[int]) -> set[int]:
    """Those of some runs that are put away."""
    return {row[0] for row in lookups.rows(connection, _OF_RUNS, [(serial,) for serial in serials])}


def is_hidden() -> ColumnElement[bool]:
    """The condition that a row of `runs` is put away."""
    return exists(select(1).where(hidden_runs.c.run == runs.c.serial))
