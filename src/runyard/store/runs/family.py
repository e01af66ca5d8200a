"""The family of a run: its parent, the run that it was submitted from, and those above them; how many children it has.

A run that is submitted from inside another one has no parent, as in SDK v1, and a child may be made by a run that is
not its parent. Which run it came from is then a property, which the server sets.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlalchemy import Connection, func, select

from runyard.store import tables
from runyard.store.runs import labels, runs
from runyard.store.runs.filter import RunFilter
from runyard.store.runs.labels import SUBMITTED_FROM
from runyard.store.runs.records import Run
from runyard.store.slices import slices


def above(connection: Connection, run_id: str) -> list[str]:
    """The run itself and all above it; none for a run that is not there."""
    found: list[str] = []
    left = [run_id]
    while left:
        line = [each for each in runs.ancestors(connection, left.pop()) if each not in found]
        found += line
        left += _submitted_from(connection, line)
    return found


def origin(run: Run) -> str | None:
    """The run from inside which a run was made, where that is known, else its parent."""
    return run.properties.get(SUBMITTED_FROM) or run.parent_id


def children(connection: Connection, run_ids: Sequence[str]) -> dict[str, dict[str, int]]:
    """How many children each run has, by their states; of runs that have some."""
    found: dict[str, dict[str, int]] = {}
    columns = tables.runs.c
    for some in slices(run_ids):
        query = (
            select(columns.parent_id, columns.status, func.count())
            .where(columns.parent_id.in_(some))
            .group_by(columns.parent_id, columns.status)
            .order_by(columns.status)
        )
        for parent, status, count in connection.execute(query):
            found.setdefault(parent, {})[status] = count
    return found


def led_from(connection: Connection, run_id: str) -> Iterator[Run]:
    """The runs below a run that its processes may lead: its descendants, and what was submitted from it."""
    for each in runs.descendants(connection, run_id):
        yield runs.get(connection, each)
    begun = RunFilter(properties=[(SUBMITTED_FROM, run_id)], include_children=True, archived=True)
    after: str | None = None
    while True:
        found, after = runs.find(connection, begun, 100, after)
        yield from found
        if after is None:
            return


def _submitted_from(connection: Connection, run_ids: Sequence[str]) -> list[str]:
    query = (
        select(tables.labels.c.value)
        .join(tables.runs, tables.runs.c.serial == tables.labels.c.run)
        .where(tables.runs.c.id.in_(run_ids), labels.matches(tables.labels, labels.PROPERTY, SUBMITTED_FROM, None))
    )
    return [each for each in connection.scalars(query) if each is not None]
