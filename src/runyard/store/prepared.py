"""Statements that every run needs several times, compiled once and handed straight to the database's driver.

What SQLAlchemy does around each execution (contexts, events, results) costs several times what the statement does, and
the life of a short run is some sixty of them. A prepared statement uses the same SQL and the same column types, so
it reads and writes exactly what `connection.execute` would; a driver's errors are raised as SQLAlchemy raises them.
Statements with lists (`IN`) are not for it, nor are columns with a default that Python computes.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Delete, Dialect, Insert, Select, Update, exc
from sqlalchemy.types import TypeEngine

Values = Mapping[str, Any]

_Convert = Callable[[Any], Any]


@dataclass(frozen=True)
class _Compiled:
    """A statement in the words of one database."""

    sql: str
    dialect: Dialect
    binds: tuple[tuple[str, Any, _Convert | None], ...]  # name, the value where none is given, and its conversion
    positional: bool
    results: tuple[tuple[int, _Convert], ...]  # the columns whose values are converted
    row: Callable[[Sequence[Any]], Any]

    def parameters(self, values: Values) -> Any:
        found = [
            (name, values.get(name, usual) if convert is None else convert(values.get(name, usual)))
            for name, usual, convert in self.binds
        ]
        return [value for _, value in found] if self.positional else dict(found)

    def read(self, fetched: Sequence[Any]) -> Any:
        if self.results:
            fetched = list(fetched)
            for position, convert in self.results:
                fetched[position] = convert(fetched[position])
        return self.row(fetched)


class Prepared:
    """`columns` are those that an insert sets: all of them otherwise."""

    def __init__(self, statement: Select[Any] | Insert | Update | Delete, columns: Sequence[str] | None = None) -> None:
        self.statement = statement
        self._columns = None if columns is None else list(columns)
        self._compiled: dict[str, _Compiled] = {}

    def all(self, connection: Connection, values: Values) -> list[Any]:
        """The rows, as named tuples."""
        compiled, cursor = self._execute(connection, values)
        with driver_errors(compiled.dialect, compiled.sql):
            return [compiled.read(fetched) for fetched in cursor]

    def first(self, connection: Connection, values: Values) -> Any:
        """The first row; None when there is none."""
        compiled, cursor = self._execute(connection, values)
        with driver_errors(compiled.dialect, compiled.sql):
            fetched = cursor.fetchone()
        cursor.close()
        return None if fetched is None else compiled.read(fetched)

    def scalar(self, connection: Connection, values: Values) -> Any:
        """The first column of the first row; None when there is none."""
        row = self.first(connection, values)
        return None if row is None else row[0]

    def run(self, connection: Connection, values: Values) -> int:
        """How many rows were changed."""
        _, cursor = self._execute(connection, values)
        changed: int = cursor.rowcount
        return changed

    def run_all(self, connection: Connection, rows: Sequence[Values]) -> None:
        """Execute it for each of some rows."""
        compiled = self._for(connection.dialect)
        parameters = [compiled.parameters(values) for values in rows]
        driver: Any = connection.connection.dbapi_connection
        with driver_errors(compiled.dialect, compiled.sql, parameters):
            cursor = driver.cursor()
            cursor.executemany(compiled.sql, parameters)
            cursor.close()

    def _for(self, dialect: Dialect) -> _Compiled:
        compiled = self._compiled.get(dialect.name)
        if compiled is None:
            compiled = self._compiled[dialect.name] = _compile(self.statement, dialect, self._columns)
        return compiled

    def _execute(self, connection: Connection, values: Values) -> tuple[_Compiled, Any]:
        compiled = self._for(connection.dialect)
        parameters = compiled.parameters(values)
        driver: Any = connection.connection.dbapi_connection
        with driver_errors(compiled.dialect, compiled.sql, parameters):
            return compiled, driver.execute(compiled.sql, parameters)


class driver_errors:
    """Raises what a driver raises as SQLAlchemy does. A class: a generator costs as much as a small statement."""

    def __init__(self, dialect: Dialect, sql: str, parameters: Any = None) -> None:
        self._dialect, self._sql, self._parameters = dialect, sql, parameters

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        dbapi: Any = self._dialect.dbapi
        if error is not None and isinstance(error, dbapi.Error):
            raise exc.DBAPIError.instance(
                self._sql, self._parameters, error, dbapi.Error, dialect=self._dialect
            ) from error


def _compile(statement: Any, dialect: Dialect, columns: list[str] | None) -> _Compiled:
    compiled = statement.compile(dialect=dialect, column_keys=columns)
    if compiled.insert_prefetch or compiled.update_prefetch:
        raise ValueError(f"a column of {compiled} has a default that Python computes")
    types = {name: bind.type for bind, name in compiled.bind_names.items()}
    names = compiled.positiontup if compiled.positional else types
    binds = tuple((name, compiled.params[name], _bind(types[name], dialect)) for name in names)
    returned = list(getattr(statement, "exported_columns", ()))
    results = [(position, _result(column.type, dialect)) for position, column in enumerate(returned)]
    made: Any = namedtuple("Row", [column.key or "" for column in returned], rename=True)  # type: ignore[misc]
    return _Compiled(
        str(compiled),
        dialect,
        binds,
        compiled.positional,
        tuple((position, convert) for position, convert in results if convert is not None),
        made._make,
    )


def _bind(type_: TypeEngine[Any], dialect: Dialect) -> _Convert | None:
    return type_.dialect_impl(dialect).bind_processor(dialect)


def _result(type_: TypeEngine[Any], dialect: Dialect) -> _Convert | None:
    return type_.dialect_impl(dialect).result_processor(dialect, None)
