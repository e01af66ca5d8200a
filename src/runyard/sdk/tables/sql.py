"""Rows out of a database, by whichever driver this environment has: the process that asks for them connects itself.

SQLite needs nothing but Python. Rows stream, a query cannot write, and it ends after its `query_timeout`.
"""

from __future__ import annotations

import contextlib
import os
import time
import uuid
from decimal import Decimal
from importlib import import_module
from typing import TYPE_CHECKING, Any, Callable, Iterator, Mapping
from urllib.parse import quote

from runyard.contracts.data import datastores as contract
from runyard.sdk.tables.engines.settings import ROWS
from runyard.sdk.tables.problem import TableProblem, needs

if TYPE_CHECKING:
    from runyard.sdk.workspace.workspace import Workspace

CONNECT_WITHIN = 10  # seconds

Connect = Callable[[Any, "Login"], Any]


class Login:
    """How a database is reached: its kind, settings and secrets. It is shown without the secrets."""

    def __init__(self, name: str, kind: str, settings: Mapping[str, str], secrets: Mapping[str, str]) -> None:
        self.name, self.kind, self.settings, self.secrets = name, kind, dict(settings), dict(secrets)
        self.timeout = 30

    @property
    def host(self) -> str:
        """The name of the server; Azure's have an end that is given by itself."""
        server, end = self.settings["server_name"], self.settings.get("endpoint")
        return f"{server}.{end.lstrip('.')}" if end else server

    def port(self, usual: int) -> int:
        return int(self.settings.get("port_number") or usual)

    def __repr__(self) -> str:
        return f"Login({self.name!r}, {self.kind!r})"


def login(workspace: Workspace, datastore: str) -> Login:
    """How this process reaches the database of a datastore."""
    from runyard.sdk.datastore.abstract_datastore import address

    found = workspace.service.post(f"{address(workspace, datastore)}/login")
    return Login(str(found["name"]), str(found["kind"]), found["settings"], found["secrets"])


def rows(to: Login, query: str, timeout: int) -> Iterator[tuple[list[str], list[tuple[Any, ...]]]]:
    """The names of the columns and the rows, some thousands at a time."""
    to.timeout = timeout
    opened, cursor = None, None
    driver, connect = _driver(to)
    try:
        opened = connect(driver, to)
        cursor = _cursor(opened)
        cursor.execute(query)
        names = None
        while True:
            found = cursor.fetchmany(ROWS)
            if names is None:
                names = _unique([str(each[0]) for each in cursor.description or ()])
                if not names:
                    raise TableProblem("The query gives no rows: it is no SELECT.", f"It was: {query[:200]!r}.")
            if not found:
                return
            yield names, [tuple(map(_plain, row)) for row in found]
    except (driver.Error, OSError) as error:
        raise _problem(to, query, error) from None
    finally:
        for each in (cursor, opened):
            if each is not None:
                with contextlib.suppress(driver.Error, OSError):
                    each.close()


def _driver(to: Login) -> tuple[Any, Connect]:
    """The module that reads a kind of database, and how it connects."""
    if to.kind not in _DRIVERS:
        raise TableProblem(
            f"The datastore {to.name!r} is no database: it is {contract.KINDS[to.kind].says}.",
            "from_sql_query takes (datastore, query) with SQLite, PostgreSQL, MySQL or Azure SQL.",
        )
    what, package, drivers = _DRIVERS[to.kind]
    for module, connect in drivers:
        try:
            return import_module(module), connect
        except ImportError:
            continue
    raise needs(package, f"Reading {what}")


def _sqlite(driver: Any, to: Login) -> Any:
    path = to.settings["path"]
    if not os.path.isfile(path):
        raise TableProblem(
            f"The file {path} of the datastore {to.name!r} is not on this machine.",
            "Put it on a disk that all machines see, or keep the rows: "
            "Dataset.Tabular.register_pandas_dataframe(frame, datastore, 'name').",
        )
    opened = driver.connect(f"file:{quote(path)}?mode=ro", uri=True, timeout=CONNECT_WITHIN)
    end = time.monotonic() + to.timeout
    opened.set_progress_handler(lambda: time.monotonic() > end, 10_000)
    return opened


def _psycopg(driver: Any, to: Login) -> Any:
    options = f"-c statement_timeout={to.timeout * 1000} -c default_transaction_read_only=on"
    return driver.connect(
        host=to.host,
        port=to.port(5432),
        dbname=to.settings["database_name"],
        user=to.settings.get("user_id"),
        password=to.secrets.get("password"),
        sslmode="require" if to.settings.get("enforce_ssl") == "true" else "prefer",
        connect_timeout=CONNECT_WITHIN,
        options=options,
    )


def _pg8000(driver: Any, to: Login) -> Any:
    opened = driver.connect(
        to.settings.get("user_id"),
        host=to.host,
        port=to.port(5432),
        database=to.settings["database_name"],
        password=to.secrets.get("password"),
        ssl_context=True if to.settings.get("enforce_ssl") == "true" else None,
        timeout=to.timeout,
    )
    opened.cursor().execute("SET default_transaction_read_only = on")
    return opened


def _mysql(driver: Any, to: Login) -> Any:
    given: dict[str, Any] = {"host": to.host, "port": to.port(3306), "database": to.settings["database_name"]}
    given.update(user=to.settings.get("user_id"), password=to.secrets.get("password") or "")
    if driver.__name__ == "pymysql":
        given.update(read_timeout=to.timeout, connect_timeout=CONNECT_WITHIN)
        given["cursorclass"] = import_module("pymysql.cursors").SSCursor
    else:
        given["connection_timeout"] = CONNECT_WITHIN
    opened = driver.connect(**given)
    with contextlib.closing(opened.cursor()) as cursor:
        cursor.execute("SET SESSION TRANSACTION READ ONLY")
    return opened


def _pyodbc(driver: Any, to: Login) -> Any:
    found = [each for each in driver.drivers() if "SQL Server" in each]
    if not found:
        raise TableProblem(
            "Reading Azure SQL needs an ODBC driver for SQL Server, which this machine does not have.",
            "Install Microsoft's msodbcsql18, or `pip install pymssql`.",
        )
    user = to.settings.get("username") or to.settings.get("client_id")
    secret = to.secrets.get("password") or to.secrets.get("client_secret") or ""
    parts = {"DRIVER": f"{{{found[-1]}}}", "SERVER": f"tcp:{to.host},{to.port(1433)}"}
    parts.update(DATABASE=to.settings["database_name"], UID=_braced(user or ""), PWD=_braced(secret), Encrypt="yes")
    if not to.settings.get("username") and to.settings.get("client_id"):
        parts["Authentication"] = "ActiveDirectoryServicePrincipal"
    text = ";".join(f"{key}={value}" for key, value in parts.items())
    opened = driver.connect(text, timeout=CONNECT_WITHIN, readonly=True)
    opened.timeout = to.timeout
    return opened


def _pymssql(driver: Any, to: Login) -> Any:
    return driver.connect(
        server=to.host,
        port=str(to.port(1433)),
        user=to.settings.get("username"),
        password=to.secrets.get("password"),
        database=to.settings["database_name"],
        login_timeout=CONNECT_WITHIN,
        timeout=to.timeout,
    )


_DRIVERS: Mapping[str, tuple[str, str, list[tuple[str, Connect]]]] = {
    contract.SQLITE: ("SQLite", "a Python that was built with it", [("sqlite3", _sqlite)]),
    contract.POSTGRES: (
        "PostgreSQL",
        "psycopg[binary]",
        [("psycopg", _psycopg), ("psycopg2", _psycopg), ("pg8000.dbapi", _pg8000)],
    ),
    contract.MYSQL: ("MySQL", "pymysql", [("pymysql", _mysql), ("mysql.connector", _mysql)]),
    contract.SQL: ("Azure SQL", "pyodbc", [("pyodbc", _pyodbc), ("pymssql", _pymssql)]),
}
"""What reads each kind of database: its name, the package to add, and the modules with how they connect."""


def _cursor(opened: Any) -> Any:
    """A cursor whose rows stay with the server until they are fetched, where the driver has such."""
    if type(opened).__module__.partition(".")[0] in ("psycopg", "psycopg2"):
        return opened.cursor(name="runyard")
    return opened.cursor()


def _braced(text: str) -> str:
    return "{" + text.replace("}", "}}") + "}"


def _unique(names: list[str]) -> list[str]:
    """
    >>> _unique(["a", "a", ""])
    ['a', 'a_1', 'Column3']
    """
    made: list[str] = []
    for number, name in enumerate(names, 1):
        wanted, again = name or f"Column{number}", 0
        while (wanted if not again else f"{wanted}_{again}") in made:
            again += 1
        made.append(wanted if not again else f"{wanted}_{again}")
    return made


def _plain(value: Any) -> Any:
    """A value as tables have it: decimals are numbers, and what is no value of a table is its text."""
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, uuid.UUID):
        return str(value)
    return bytes(value) if isinstance(value, (memoryview, bytearray)) else value


def _problem(to: Login, query: str, error: Exception) -> TableProblem:
    said = " ".join(str(error).split())
    for secret in to.secrets.values():
        said = said.replace(secret, "***") if secret else said
    late = "interrupted" in said or "statement timeout" in said or "timed out" in said
    help = f"It was: {query[:200]!r}."
    if late:
        help = f"It had {to.timeout} s: query_timeout=... gives it more. {help}"
    return TableProblem(f"The query to {to.name!r} failed: {said[:500]}.", help)
