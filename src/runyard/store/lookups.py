"""Statements that are asked for every delivery, sent to the database's driver as text.

SQLAlchemy takes longer to build a statement with a hundred keys than a database takes to answer it. What is written
here is the same for SQLite and PostgreSQL, but for the sign that stands for a parameter; what changes many rows at
once has words for either.
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
        # To the next power of two, so that few statements are enough, which the driver and the database know then.
        count = 1 << (len(some) - 1).bit_length()
        padded = [*some, *[some[-1]] * (count - len(some))]
        sql = _sql(query, len(some[0]), count, connection.dialect.name)
        values = tuple(chain.from_iterable(padded))
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
def _sql(query: str, columns: int, count: int, dialect: str) -> str:
    key = f"({', '.join('?' * columns)})"
    return _marked(query.format(keys=f"VALUES {', '.join([key] * count)}"), dialect)


@lru_cache(256)
def _marked(statement: str, dialect: str) -> str:
    return statement.replace("?", "%s") if dialect == "postgresql" else statement
