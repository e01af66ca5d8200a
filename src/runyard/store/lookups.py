"""Statements that are asked for every delivery, sent to the database's driver as text.

SQLAlchemy takes longer to build a statement with a hundred keys than a database takes to answer it. What is written
here is the same for SQLite and PostgreSQL, but for the keys, which PostgreSQL gets as arrays; what changes many rows
at once has words for either.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any, NamedTuple

from sqlalchemy import Connection

from runyard.store.prepared import driver_errors

MOST_KEYS = 256
"""How many keys one statement names at most."""

Values = tuple[Any, ...]

_ARRAYS = {int: "bigint[]", str: "text[]", bytes: "bytea[]"}


class Many(NamedTuple):
    """A statement for many rows. SQLite executes `each` once for each of them, with a `?` for each column; PostgreSQL,
    for which every execution is a message, has `together`, with `%b::<type>[]` for all values of a column."""

    each: str
    together: str


def rows(connection: Connection, query: str, keys: Sequence[Values]) -> Iterator[Values]:
    """The rows that a query finds for keys, which are in the place of `{keys}`, as in `WHERE (a, b) IN ({keys})`. A row
    may come more than once. Values are as the driver gives them."""
    for start in range(0, len(keys), MOST_KEYS):
        some = keys[start : start + MOST_KEYS]
        if connection.dialect.name == "postgresql":
            sql, values = _by_arrays(query, *map(type, some[0])), [list(column) for column in zip(*some, strict=True)]
        else:
            # To the next power of two, so that few statements are enough, which the driver and the database know then.
            count = 1 << (len(some) - 1).bit_length()
            sql = _by_values(query, len(some[0]), count)
            values = list(chain.from_iterable([*some, *[some[-1]] * (count - len(some))]))
        with driver_errors(connection.dialect, sql, values):
            found = _driver(connection).execute(sql, values).fetchall()
        yield from found


def execute(connection: Connection, statement: Many, rows: Sequence[Values]) -> None:
    """Execute a statement for all of some rows, in their order."""
    if not rows:
        return
    with driver_errors(connection.dialect, statement.each, rows):
        cursor = _driver(connection).cursor()
        if connection.dialect.name == "postgresql":
            cursor.execute(statement.together, [list(column) for column in zip(*rows, strict=True)])
        else:
            cursor.executemany(statement.each, rows)
        cursor.close()


def _driver(connection: Connection) -> Any:
    return connection.connection.dbapi_connection


@lru_cache(256)
def _by_values(query: str, columns: int, count: int) -> str:
    key = f"({', '.join('?' * columns)})"
    return query.format(keys=f"VALUES {', '.join([key] * count)}")


@lru_cache(256)
def _by_arrays(query: str, *types: type) -> str:
    """psycopg reads a statement with many parameters anew each time, and takes each number by itself: two arrays cost
    a third of a hundred values."""
    arrays = ", ".join(f"%b::{_ARRAYS[each]}" for each in types)
    return query.format(keys=f"SELECT * FROM unnest({arrays})")
