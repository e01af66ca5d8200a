"""Rows that cannot be read: each is reported by itself, and does not make a whole list fail.

A bit that flipped on a disk, or an edit by hand, may leave a value that its column cannot hold. The types of
`runyard.store.tables` notice that. Whoever lists rows reads them with `rows`; afterwards `seen` has those that were
left out.
"""

from __future__ import annotations

import logging
from typing import Any

from sqlalchemy import Column, Connection, Row, Select, Table, exc, select

from runyard.store.errors import Damaged

log = logging.getLogger("runyard.store")

ERRORS = (Damaged, exc.OperationalError)
"""What may be raised by a row that cannot be read; `must_be` raises other errors again."""

_SEEN, _ROWS = "runyard.damaged", "runyard.damaged.rows"
HELP = "Delete it if it can be spared, or stop the server and put back a copy of the database."


def forget(connection: Connection) -> None:
    """A new transaction begins."""
    connection.info.pop(_SEEN, None)
    connection.info.pop(_ROWS, None)


def seen(connection: Connection) -> list[dict[str, object]]:
    """The rows that could not be read in this transaction, as problem documents."""
    found: list[dict[str, object]] = connection.info.get(_SEEN, [])
    return found


def serials(connection: Connection, table: Table) -> list[int]:
    """The numbers of the rows of a table that could not be read in this transaction."""
    return [row for name, row in connection.info.get(_ROWS, ()) if name == table.name]


def rows(connection: Connection, query: Select[Any], key: Column[int], shown: Column[str]) -> list[Row[Any]]:
    """The rows of a query, without those that cannot be read. `key` identifies them, `shown` is what users know."""
    try:
        return list(connection.execute(query).all())
    except ERRORS as error:
        must_be(error)
    found: list[Row[Any]] = []
    for serial in connection.scalars(query.with_only_columns(key, maintain_column_froms=True)).all():
        try:
            found.extend(connection.execute(query.offset(None).where(key == serial)).all())
        except ERRORS as error:
            note(connection, serial, error, key, shown)
    return found


def note(connection: Connection, serial: int, error: Exception, key: Column[int], shown: Column[str]) -> None:
    """Record that a row was left out, and why."""
    must_be(error)
    if serial in serials(connection, shown.table):
        return
    why = error.title if isinstance(error, Damaged) else str(error.__cause__ or error)
    table = shown.table.name
    try:
        name = connection.scalar(select(shown).where(key == serial))
    except exc.OperationalError:  # it is the name that cannot be read
        name = None
    log.error("row %s of the table %s (%r) cannot be read: %s", serial, table, name, why)
    connection.info.setdefault(_ROWS, []).append((table, serial))
    connection.info.setdefault(_SEEN, []).append(
        {
            "code": "database_damaged",
            "title": f"Row {serial} of the table {table} ({name!r}) cannot be read: {why}",
            "help": HELP,
            "detail": {"table": table, "row": serial, shown.name: name},
        }
    )


def must_be(error: Exception) -> None:
    """Raise an error again that is not about a row which cannot be read."""
    if not isinstance(error, Damaged) and "could not decode" not in str(error).lower():
        raise error
