"""Journals as the server sees them: how much of each one is stored, and what its records change.

A journal only grows at its end, so a byte offset tells which lines are known. Offset and changes are stored in one
transaction: a batch that comes twice, or overlaps the former one, changes nothing twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, insert, select, update

from runyard.contracts import journal
from runyard.store import lookups
from runyard.store.database import Database
from runyard.store.errors import Conflict, Refused, StoreError
from runyard.store.metrics import batches, series, staging
from runyard.store.metrics.batches import Batch
from runyard.store.metrics.staging import Staged
from runyard.store.mlflow import noted, repeats
from runyard.store.runs import labels, parameters, runs
from runyard.store.tables import clean, journals

_CONFIRMED = select(journals.c.offset).where(journals.c.run == bindparam("of"), journals.c.writer == bindparam("by"))
_ALL_CONFIRMED = 'SELECT run, writer, "offset" FROM journals WHERE (run, writer) IN ({keys})'
_BEGIN = insert(journals)
_CONFIRM = update(journals).where(journals.c.run == bindparam("of"), journals.c.writer == bindparam("by"))
_BEGIN_MANY = lookups.Many(
    'INSERT INTO journals (run, writer, "offset") VALUES (?, ?, ?)',
    'INSERT INTO journals (run, writer, "offset") SELECT * FROM unnest(%b::bigint[], %b::text[], %b::bigint[])',
)
_CONFIRM_MANY = lookups.Many(
    'UPDATE journals SET "offset" = ? WHERE run = ? AND writer = ?',
    'UPDATE journals SET "offset" = new.at FROM unnest(%b::bigint[], %b::bigint[], %b::text[]) AS new(at, run, writer) '
    "WHERE journals.run = new.run AND journals.writer = new.writer",
)

Key = tuple[int, str]
"""The run and the writer of a journal."""

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
    confirmed = _confirmed(connection, run, checked(writer))
    lines = _unknown(confirmed or 0, offset, data)
    if not lines:
        return confirmed or 0
    end = offset + len(data)
    parsed = batch if batch is not None and len(lines) == len(data) else batches.parse(lines, end - len(lines))
    staging.fold(connection, run)
    _apply(connection, run, parsed, writer)
    _confirm(connection, run, writer, end, is_new=confirmed is None)
    return end


def confirmed(connection: Connection, run_id: str, writer: str) -> int:
    """How many bytes of a journal are stored."""
    return _confirmed(connection, runs.serial_of(connection, run_id), writer) or 0


@dataclass(frozen=True)
class Incoming:
    """Lines of the journal of `writer` that begin at byte `offset`, and what they hold: `points` alone, or `batch`,
    which is None where it could not be read. That matters only if they are new."""

    run: int
    writer: str
    offset: int
    data: bytes
    batch: Batch | None
    points: bool = False


def accept_many(connection: Connection, incoming: Sequence[Incoming]) -> list[int | StoreError]:
    """Take lines of many journals, in this order; the confirmed offset of each, or why its lines were refused.

    Small batches are staged: to the reader of `runyard.store.metrics.staging` they are stored all the same.
    """
    before = _all_confirmed(connection, {(each.run, each.writer) for each in incoming})
    confirmed = dict(before)
    answers: list[int | StoreError] = []
    staged: list[Staged] = []
    for each in incoming:
        key, end = (each.run, each.writer), each.offset + len(each.data)
        try:
            lines = _unknown(confirmed.get(key, 0), each.offset, each.data)
            batch = None if each.points or not lines else _batch_of(each, lines)
        except (Conflict, Refused) as error:
            answers.append(error)
            continue
        if lines:
            if batch is None or staging.fits(batch, lines):
                if batch is None or batch.series:
                    staged.append(Staged(each.run, each.writer, lines))
            else:
                staging.add(connection, staged)
                staged.clear()
                staging.fold(connection, each.run)
                _apply(connection, each.run, batch, each.writer)
            confirmed[key] = end
        answers.append(confirmed.get(key, 0))
    staging.add(connection, staged)
    _confirm_many(connection, before, confirmed)
    return answers


def _batch_of(each: Incoming, lines: bytes) -> Batch:
    """What those of the lines hold that are new."""
    if each.batch is not None and len(lines) == len(each.data):
        return each.batch
    return batches.parse(lines, each.offset + len(each.data) - len(lines))


def incoming(run: int, writer: str, offset: int, data: bytes) -> Incoming:
    """Read lines, outside of any transaction."""
    if len(data) <= staging.SMALL and data.endswith(b"\n") and batches.are_points(data):
        return Incoming(run, writer, offset, data, None, points=True)
    return Incoming(run, writer, offset, data, read(data))


def read(data: bytes) -> Batch | None:
    """What lines hold; None when they are not whole, or bad. Of those it is seen later whether they matter."""
    try:
        return batches.parse(data, 0) if data.endswith(b"\n") else None
    except Refused:
        return None


def is_long(batch: Batch | None) -> bool:
    """Whether a batch is to be taken in more than one transaction."""
    return batch is not None and _rows(batch) > MOST_ROWS


def checked(writer: str) -> str:
    if not 0 < len(writer) <= 255 or clean(writer) != writer:
        raise Refused("bad_name", f"{writer[:80]!r} is no name for a journal's writer.", "Use 1 to 255 characters.")
    return writer


def _parts(data: bytes) -> Iterator[tuple[bytes, Batch | None]]:
    """Whole lines that come to so many rows at most, or single ones, with what they hold. They are read here, outside
    of any transaction."""
    waiting = [data]
    while waiting:
        lines = waiting.pop()
        batch = read(lines)
        half = _middle(lines) if is_long(batch) else 0
        if half:
            waiting += (lines[half:], lines[:half])
        else:
            yield lines, batch


def _rows(batch: Batch) -> int:
    metrics = len(batch.series) + len(batch.descriptions)
    texts = len(batch.tags) + len(batch.untagged) + len(batch.properties) + len(batch.parameters)
    return metrics + texts + len(batch.noted)


def _middle(lines: bytes) -> int:
    """Where a line ends near the middle; 0 when there is only one."""
    after = lines.find(b"\n", len(lines) // 2) + 1
    return after if 0 < after < len(lines) else lines.rfind(b"\n", 0, len(lines) - 1) + 1


def _unknown(confirmed: int, offset: int, data: bytes) -> bytes:
    """Those of the lines that are new. Conflict when some are missing before them."""
    if offset > confirmed:
        raise Conflict(
            "offset_gap",
            f"The batch begins at byte {offset} of the journal, but only {confirmed} bytes of it are known.",
            f"Send the journal from byte {confirmed} on.",
            {"offset": confirmed},
        )
    known = confirmed - offset
    if len(data) <= known:
        return b""
    if not data.endswith(b"\n") or (known and data[known - 1 : known] != b"\n"):
        raise Refused(
            "bad_journal",
            "The batch does not begin and end where a line of the journal does.",
            "Send whole lines, each with its line feed.",
        )
    return data[known:] if known else data


def _apply(connection: Connection, run: int, batch: Batch, writer: str) -> None:
    if journal.is_of_mlflow(writer):
        batch = repeats.dropped(connection, run, batch)
    series.add(connection, run, batch, journal.rank_of(writer))
    labels.remove(connection, run, labels.TAG, batch.untagged)
    labels.put_tags(connection, run, batch.tags)
    if batch.properties:
        labels.add_properties(connection, run, batch.properties, keep_first=True)
    if batch.parameters:
        parameters.add(connection, run, batch.parameters, keep_first=True)
    for what, document in batch.noted:
        noted.take(connection, run, what, document)


def _confirmed(connection: Connection, run: int, writer: str) -> int | None:
    return connection.scalar(_CONFIRMED, {"of": run, "by": writer})


def _confirm(connection: Connection, run: int, writer: str, offset: int, is_new: bool) -> None:
    if is_new:
        connection.execute(_BEGIN, {"run": run, "writer": writer, "offset": offset})
    else:
        connection.execute(_CONFIRM, {"of": run, "by": writer, "offset": offset})


def _all_confirmed(connection: Connection, keys: Iterable[Key]) -> dict[Key, int]:
    return {(run, writer): offset for run, writer, offset in lookups.rows(connection, _ALL_CONFIRMED, sorted(keys))}


def _confirm_many(connection: Connection, before: Mapping[Key, int], confirmed: Mapping[Key, int]) -> None:
    fresh = [(*key, end) for key, end in confirmed.items() if key not in before]
    grown = [(end, *key) for key, end in confirmed.items() if before.get(key, end) != end]
    lookups.execute(connection, _BEGIN_MANY, fresh)
    lookups.execute(connection, _CONFIRM_MANY, grown)
