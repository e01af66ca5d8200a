"""Journals as the server sees them: how much of each one is stored, and what its records change.

A journal only grows at its end, so a byte offset tells which lines are known. Offset and changes are stored in one
transaction: a batch that comes twice, or overlaps the former one, changes nothing twice.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import Connection, bindparam, insert, select, update

from runyard.contracts import journal
from runyard.store.database import Database
from runyard.store.errors import Conflict, Refused
from runyard.store.metrics import batches, series
from runyard.store.metrics.batches import Batch
from runyard.store.runs import labels, runs
from runyard.store.tables import clean, journals

_CONFIRMED = select(journals.c.offset).where(journals.c.run == bindparam("of"), journals.c.writer == bindparam("by"))
_BEGIN = insert(journals)
_CONFIRM = update(journals).where(journals.c.run == bindparam("of"), journals.c.writer == bindparam("by"))


MOST_ROWS = 500
"""Series, tags and the like that one transaction touches. A journal with many more holds others up no longer."""


def take(database: Database, run_id: str, writer: str, offset: int, data: bytes) -> int:
    """Accept lines in as many transactions as it takes for others to have their turn; returns the confirmed offset."""
    confirmed = 0
    for lines, batch in _parts(data):
        with database.write() as connection:
            confirmed = accept(connection, run_id, writer, offset, lines, batch)
        offset += len(lines)
    return confirmed


def accept(
    connection: Connection, run_id: str, writer: str, offset: int, data: bytes, batch: Batch | None = None
) -> int:
    """Take whole lines that begin at byte `offset` of the journal of `writer`; returns the confirmed offset. `batch` is
    what the lines hold, if that is known.

    Files and the end of a run are handled elsewhere: their records are skipped. A property that is set
    already is not changed, because nobody could correct a journal that has another value.
    """
    run = runs.serial_of(connection, run_id)
    confirmed = _confirmed(connection, run, _checked(writer))
    if offset > (confirmed or 0):
        raise Conflict(
            "offset_gap",
            f"The batch begins at byte {offset} of the journal, but only {confirmed or 0} bytes of it are known.",
            f"Send the journal from byte {confirmed or 0} on.",
            {"offset": confirmed or 0},
        )
    known = (confirmed or 0) - offset
    if len(data) <= known:
        return confirmed or 0
    lines = data[known:]
    if not lines.endswith(b"\n") or (known and data[known - 1 : known] != b"\n"):
        raise Refused(
            "bad_journal",
            "The batch does not begin and end where a line of the journal does.",
            "Send whole lines, each with its line feed.",
        )
    parsed = batches.parse(lines, offset + known) if batch is None or known else batch
    _apply(connection, run, parsed, journal.rank_of(writer))
    _confirm(connection, run, writer, offset + len(data), is_new=confirmed is None)
    return offset + len(data)


def _parts(data: bytes) -> Iterator[tuple[bytes, Batch | None]]:
    """Whole lines that come to so many rows at most, or single ones, with what they hold. They are read here, outside
    of any transaction; of lines that are bad it is seen later whether they matter."""
    waiting = [data]
    while waiting:
        lines = waiting.pop()
        try:
            batch = batches.parse(lines, 0) if lines.endswith(b"\n") else None
        except Refused:
            batch = None
        half = _middle(lines) if batch is not None and _rows(batch) > MOST_ROWS else 0
        if half:
            waiting += (lines[half:], lines[:half])
        else:
            yield lines, batch


def _rows(batch: Batch) -> int:
    metrics = len(batch.series) + len(batch.descriptions)
    return metrics + len(batch.tags) + len(batch.untagged) + len(batch.properties)


def _middle(lines: bytes) -> int:
    """Where a line ends near the middle; 0 when there is only one."""
    after = lines.find(b"\n", len(lines) // 2) + 1
    return after if 0 < after < len(lines) else lines.rfind(b"\n", 0, len(lines) - 1) + 1


def _apply(connection: Connection, run: int, batch: Batch, rank: int | None) -> None:
    series.add(connection, run, batch, rank)
    labels.remove(connection, run, labels.TAG, batch.untagged)
    labels.put(connection, run, labels.TAG, batch.tags)
    if batch.properties:
        labels.add_properties(connection, run, batch.properties, keep_first=True)


def _confirmed(connection: Connection, run: int, writer: str) -> int | None:
    return connection.scalar(_CONFIRMED, {"of": run, "by": writer})


def _confirm(connection: Connection, run: int, writer: str, offset: int, is_new: bool) -> None:
    if is_new:
        connection.execute(_BEGIN, {"run": run, "writer": writer, "offset": offset})
    else:
        connection.execute(_CONFIRM, {"of": run, "by": writer, "offset": offset})


def _checked(writer: str) -> str:
    if not 0 < len(writer) <= 255 or clean(writer) != writer:
        raise Refused("bad_name", f"{writer[:80]!r} is no name for a journal's writer.", "Use 1 to 255 characters.")
    return writer
