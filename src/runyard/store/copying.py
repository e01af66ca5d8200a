"""Copying all rows of one database into another that is empty, of either kind: the move from SQLite to PostgreSQL."""

from __future__ import annotations

from sqlalchemy import Connection, Table, func, insert, select, text

from runyard.store import tables
from runyard.store.database import Database
from runyard.store.errors import Refused, StoreError

AT_ONCE = 100
"""Rows that are held in memory: some hold whole manifests."""


def copy(source: Database, target: Database) -> int:
    """Copy every row, in one transaction; returns how many.

    The id of the source stays where it is: which database a home uses is decided in `identity`.
    """
    total = 0
    with source.read() as reading, target.write() as writing:
        _refuse_filled(writing, target)
        for table in _tables():
            count = 0
            rows = reading.execution_options(yield_per=AT_ONCE).execute(select(table))
            for some in rows.mappings().partitions():
                writing.execute(insert(table), [dict(row) for row in some])
                count += len(some)
            if "serial" in table.c:
                _set_last_serial(writing, table, _last_serial(reading, table))
            arrived = _count(writing, table)
            if arrived != count:  # what a driver or a trigger has swallowed
                raise StoreError("internal", f"{arrived} of {count} rows of {table.name!r} arrived in {target.where}.")
            total += count
    return total


def rows(database: Database) -> int:
    """How many rows there are to be copied."""
    with database.read() as connection:
        return sum(_count(connection, table) for table in _tables())


def _tables() -> list[Table]:
    return [table for table in tables.metadata.sorted_tables if table is not tables.identity]


def _count(connection: Connection, table: Table) -> int:
    return connection.scalar(select(func.count()).select_from(table)) or 0


def _refuse_filled(connection: Connection, target: Database) -> None:
    for table in _tables():
        count = _count(connection, table)
        if count:
            raise Refused(
                "database_not_empty",
                f"The database {target.where} is in use already: its table {table.name!r} has {count} rows.",
                "Name a database with nothing in it; `createdb` makes one in PostgreSQL.",
                {"path": target.where},
            )


def _last_serial(connection: Connection, table: Table) -> int:
    """The last number that was given, though its row may be deleted: growing files are called by such numbers."""
    highest = connection.scalar(select(func.max(table.c.serial))) or 0
    if connection.dialect.name == "postgresql":
        sequence = connection.scalar(text("SELECT pg_get_serial_sequence(:name, 'serial')"), {"name": table.name})
        given = connection.scalar(text(f"SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM {sequence}"))
    else:
        given = connection.scalar(text("SELECT seq FROM sqlite_sequence WHERE name = :name"), {"name": table.name})
    return max(int(highest), int(given or 0))


def _set_last_serial(connection: Connection, table: Table, last: int) -> None:
    if not last:
        return
    parameters = {"name": table.name, "last": last}
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT setval(pg_get_serial_sequence(:name, 'serial'), :last)"), parameters)
    elif table.kwargs.get("sqlite_autoincrement"):
        connection.execute(text("DELETE FROM sqlite_sequence WHERE name = :name"), parameters)
        connection.execute(text("INSERT INTO sqlite_sequence (name, seq) VALUES (:name, :last)"), parameters)
