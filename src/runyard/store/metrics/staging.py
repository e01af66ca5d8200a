"""Lines of journals that are confirmed, and not yet part of series.

A live run sends a few points of each metric at a time. Adding them to chunks at once would rewrite the last chunk of
every series for a handful of bytes, so small batches are stored as they came, one row each. They become points
together: when there are enough of them, before somebody reads the metrics of the run, and when it has ended.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from sqlalchemy import Connection, bindparam, delete, func, select

from runyard.contracts import journal
from runyard.contracts.states import TERMINAL
from runyard.store import lookups, tables
from runyard.store.database import Database
from runyard.store.metrics import batches, series
from runyard.store.metrics.batches import Batch
from runyard.store.mlflow import repeats
from runyard.store.slices import slices
from runyard.store.tables import staged_lines

SMALL = 16 << 10
"""Bytes of a batch that is staged; a larger one is worth a chunk of its own."""

ENOUGH = 128 << 10
"""Bytes of one run that are not left to wait for more. Each time costs something for every series, however few its new
points are; whoever reads the metrics of the run waits for as many as there are, some 15 ms for these."""

_INSERT = lookups.Many(
    "INSERT INTO staged_lines (run, writer, lines) VALUES (?, ?, ?)",
    "INSERT INTO staged_lines (run, writer, lines) SELECT run, writer, lines "
    "FROM unnest(%b::bigint[], %b::text[], %b::bytea[]) WITH ORDINALITY AS new(run, writer, lines, at) ORDER BY at",
)
_OF_RUN = select(staged_lines.c.writer, staged_lines.c.lines).where(staged_lines.c.run == bindparam("of"))
_IN_ORDER = _OF_RUN.order_by(staged_lines.c.serial)
_DELETE = delete(staged_lines).where(staged_lines.c.run == bindparam("of"))


@dataclass(frozen=True)
class Staged:
    """Whole lines of the journal of `writer`, which hold nothing but points."""

    run: int
    writer: str
    lines: bytes


def fits(batch: Batch, lines: bytes) -> bool:
    """Whether lines may be staged: there are few, and nobody finds runs by what they hold."""
    return len(lines) <= SMALL and batch.is_plain


def add(connection: Connection, some: Sequence[Staged]) -> None:
    lookups.execute(connection, _INSERT, [(each.run, each.writer, each.lines) for each in some])


def fold(connection: Connection, run: int) -> None:
    """Make points of what is staged for a run, in the order in which it came."""
    rows = connection.execute(_IN_ORDER, {"of": run}).all()
    if not rows:
        return
    by_writer = groupby(rows, key=lambda row: (journal.rank_of(row.writer), journal.is_of_mlflow(row.writer)))
    for (rank, is_of_mlflow), some in by_writer:
        batch = batches.parse(b"".join(bytes(row.lines) for row in some), 0)
        series.add(connection, run, repeats.dropped(connection, run, batch) if is_of_mlflow else batch, rank)
    connection.execute(_DELETE, {"of": run})


def sizes(connection: Connection) -> dict[int, int]:
    """The bytes that are staged, by run."""
    query = select(staged_lines.c.run, func.sum(func.length(staged_lines.c.lines))).group_by(staged_lines.c.run)
    return {row[0]: int(row[1]) for row in connection.execute(query)}


def settle(database: Database, run_ids: Iterable[str]) -> None:
    """Fold what is staged for these runs, so that whoever reads their metrics then sees all of them."""
    for some in slices(list(run_ids)):
        of_these = select(staged_lines.c.run).join(tables.runs).where(tables.runs.c.id.in_(some)).distinct()
        with database.read() as connection:
            waiting = list(connection.scalars(of_these))
        _fold_each(database, waiting)


def settle_experiments(database: Database, experiments: Sequence[int]) -> None:
    """Fold what is staged for the runs of these experiments."""
    # Not a join: SQLite would go through all runs of the experiments, to see for each whether lines wait.
    waiting_ones = tables.runs.c.serial.in_(select(staged_lines.c.run))
    of_these = select(tables.runs.c.serial).where(tables.runs.c.experiment.in_(experiments), waiting_ones)
    with database.read() as connection:
        waiting = list(connection.scalars(of_these))
    _fold_each(database, waiting)


def settle_few(database: Database, most: int) -> None:
    """Fold what is staged, unless it is that of more than so many runs: to sort runs by their last values must not take
    longer the more of them are live."""
    with database.read() as connection:
        waiting = list(connection.scalars(select(staged_lines.c.run).distinct().limit(most + 1)))
    if len(waiting) <= most:
        _fold_each(database, waiting)


def settle_ended(database: Database) -> None:
    """Fold what was staged for runs that have ended since."""
    ended = select(staged_lines.c.run).join(tables.runs).where(tables.runs.c.status.in_(sorted(TERMINAL))).distinct()
    with database.read() as connection:
        waiting = list(connection.scalars(ended))
    _fold_each(database, waiting)


def _fold_each(database: Database, waiting: Sequence[int]) -> None:
    for run in waiting:  # a transaction for each: others that write have their turn in between
        with database.write() as connection:
            fold(connection, run)
