"""Access to the database: opens it, brings it up to date, hands out transactions, translates its errors.

Queries live in the modules named after their subject; they take the connection that `read()` or `write()` gives.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, exc, inspect, literal, make_url, select, text
from sqlalchemy.engine import Dialect
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.pool import ConnectionPoolEntry, NullPool, PoolProxiedConnection

from runyard.contracts.secrets import mask
from runyard.store import after_commit, migrations, tables
from runyard.store.errors import Damaged, Refused, StoreError, Unavailable, disk_full
from runyard.store.prepared import driver_errors

PRAGMAS = (
    "busy_timeout = 30000",
    "journal_mode = WAL",
    "synchronous = NORMAL",
    "foreign_keys = ON",
    "cache_size = -8000",
    "temp_store = MEMORY",
    "journal_size_limit = 67108864",
)
ADVISORY_LOCK = 0x52554E59
"""Names the write lock among all locks of a PostgreSQL database."""

_BEGIN_WRITING = f"BEGIN; SELECT pg_advisory_xact_lock({ADVISORY_LOCK})"
_MAGIC = b"SQLite format 3\0"

ASKED_AFTER = 1.0
"""Seconds that a connection to PostgreSQL has been idle after which it is asked whether it is still one."""


class Database:
    """Safe to use from many threads. Open it with `Database.open`."""

    def __init__(self, engine: Engine, where: str) -> None:
        self.kind = engine.dialect.name
        self.where = where
        self._readers = engine
        # What a connection to SQLite has read it forgets when another one has written: so one does all the writing.
        writer = _engine(engine.url) if self.kind == "sqlite" else engine
        self._writers = writer.execution_options(writes=True)
        self._lookers = engine.execution_options(looks=True)
        self._lock = threading.Lock()
        self._mine = threading.local()
        self._folders: after_commit.Folders | None = None
        self._damage: Damaged | None = None
        self._file: tuple[int, int] | None = None

    @classmethod
    def open(cls, url: str | URL) -> Database:
        """Open a database, make it if it is not there, bring its tables up to date if they are older."""
        parsed = _parse(url)
        database = cls(_engine(parsed), _shown(parsed))
        try:
            database._update()
            database._file = _identity(database.where)
        except BaseException:
            database.close()
            raise
        return database

    @classmethod
    def existing(cls, url: str | URL) -> Database | None:
        """A database as it is, to be looked at; None when there is none, or when its tables are not of this version."""
        if missing_file(url) is not None:
            return None
        parsed = _parse(url)
        database = cls(_engine(parsed), _shown(parsed))
        try:
            with database.read() as connection:
                if database._version(connection) == migrations.HEAD:
                    return database
        except BaseException:
            database.close()
            raise
        database.close()
        return None

    def attach(self, folders: after_commit.Folders) -> None:
        """Name the folders that belong to this database (`runyard.store.after_commit`)."""
        self._folders = folders

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A transaction that sees one state of the database and changes nothing."""
        with self._translated_errors(), self._readers.begin() as connection:
            after_commit.bind(connection, self._folders, None)
            yield connection

    @contextmanager
    def look(self) -> Iterator[Connection]:
        """Short queries that change nothing. On PostgreSQL they are no transaction: to begin and to end one is a
        message each, and costs as much as a query. Its transactions show each query what is stored by then anyway."""
        with self._translated_errors(), self._lookers.begin() as connection:
            after_commit.bind(connection, self._folders, None)
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A transaction that may change rows. There is one at a time: it has to be short, and cannot be nested."""
        if getattr(self._mine, "writing", False):
            raise RuntimeError("write() inside write() would wait for itself")
        with self._lock, self._translated_errors():
            self._mine.writing = True
            try:
                effects = after_commit.Effects()
                with self._writers.begin() as connection:
                    after_commit.bind(connection, self._folders, effects)
                    yield connection
                    if self._folders and effects.named:
                        after_commit.check(self._folders, effects)
                if self._folders and effects.released:
                    with self._readers.begin() as connection:
                        after_commit.settle(connection, self._folders, effects)
                elif self._folders and (effects.named or effects.closed):
                    after_commit.settle(None, self._folders, effects)
            finally:
                self._mine.writing = False

    def check(self) -> None:
        """Raise unless the database can be read and written now, as far as can be found out in a moment.

        Damage deep in a file shows when it is met: once it was, the database stays damaged until the next start.
        """
        if self._damage is not None:
            raise self._damage
        if self.kind == "sqlite":
            self._check_file()
        with self._lock, self._translated_errors(), self._fresh.begin() as connection:
            for table in tables.metadata.sorted_tables:
                connection.execute(select(literal(1)).select_from(table).limit(1)).first()
            # Of no effect, and yet a write, down to the disk.
            connection.execute(text(f"UPDATE {migrations.VERSION_TABLE} SET version_num = version_num"))

    def _check_file(self) -> None:
        """What SQLite itself does not notice while it has the file open."""
        if _no_space(self.where):
            raise disk_full(self.where)
        if _identity(self.where) != self._file:
            raise Unavailable(
                "not_ready",
                f"The database {self.where} was moved away or replaced while it was in use.",
                "Stop the server, put the file back together with its -wal file, and start the server again.",
                {"path": self.where},
            )
        with open(self.where, "rb") as file:
            if file.read(len(_MAGIC)) not in (b"", _MAGIC):
                raise self._damaged("it does not begin as a database does")

    @cached_property
    def _fresh(self) -> Engine:
        """Makes a connection for each use: one that is open does not notice that its file was replaced or closed."""
        engine = _engine(self._readers.url, fresh=True) if self.kind == "sqlite" else self._readers
        return engine.execution_options(writes=True)

    def close(self) -> None:
        self._readers.dispose()
        self._writers.dispose()

    def _update(self) -> None:
        with self.read() as connection:
            if self._version(connection) == migrations.HEAD:
                return
        with self._lock, self._translated_errors(), self._writers.begin() as connection:
            version = self._version(connection)
            if version is None:
                migrations.create(connection)
            elif version != migrations.HEAD:
                migrations.upgrade(connection)

    def _version(self, connection: Connection) -> str | None:
        """The step that the tables are at; None for a new database."""
        if not inspect(connection).has_table(migrations.VERSION_TABLE):
            return None
        version: str = connection.execute(text(f"SELECT version_num FROM {migrations.VERSION_TABLE}")).scalar() or ""
        if version > migrations.HEAD:
            raise Damaged(
                "database_damaged",
                f"The database {self.where} was written by a newer Runyard "
                f"(its tables are at {version}, this one knows {migrations.HEAD}).",
                "Upgrade Runyard, or set RUNYARD_HOME to another folder.",
                {"path": self.where, "version": version},
            )
        return version

    @contextmanager
    def _translated_errors(self) -> Iterator[None]:
        try:
            yield
        except (exc.DBAPIError, sqlite3.Error) as error:
            meaning = self._meaning(error)
            if meaning is None:
                raise
            raise meaning from error

    def _damaged(self, why: str) -> Damaged:
        return Damaged(
            "database_damaged",
            f"The database {self.where} is damaged: {why}.",
            "Stop the server and put back a copy of the file (without the -wal and -shm files of the damaged one), or "
            "mend it with `sqlite3 <file> .recover`. To begin afresh, move the whole home folder away, or set "
            "RUNYARD_HOME to another one: the files in it belong to this database.",
            {"path": self.where},
        )

    def _meaning(self, error: exc.DBAPIError | sqlite3.Error) -> StoreError | None:
        origin = error.orig if isinstance(error, exc.DBAPIError) else error
        message = str(origin).lower()
        full = "disk is full" in message or getattr(origin, "sqlstate", None) == "53100"
        if full or ("disk i/o error" in message and _no_space(self.where)):
            return disk_full(self.where)
        if "malformed" in message or "not a database" in message or "could not decode" in message:
            damage = self._damaged(str(origin))
            if "could not decode" not in message:  # which concerns one row only
                self._damage = damage
            return damage
        if isinstance(origin, sqlite3.OperationalError) and any(
            phrase in message for phrase in ("unable to open", "readonly", "locked")
        ):
            return Unavailable(
                "not_ready",
                f"The database {self.where} cannot be used: {origin}.",
                "Check that this user may read and write the file and its folder, and that no other program holds it.",
                {"path": self.where},
            )
        read_only = getattr(origin, "sqlstate", None) == "25006"
        if self.kind == "postgresql" and (read_only or isinstance(error, exc.OperationalError)):
            return Unavailable(
                "not_ready",
                f"The database {self.where} cannot be used: {str(origin).strip()}.",
                "Check that PostgreSQL runs there and that the address, the user and the password are right.",
                {"path": self.where},
            )
        return None


def missing_file(url: str | URL) -> str | None:
    """The path of an SQLite database that is still to be made; None for one that is there, and for PostgreSQL."""
    parsed = _parse(url)
    if not _is_sqlite(parsed):
        return None
    path = Path(str(parsed.database)).absolute()
    return None if path.exists() else str(path)


def _identity(path: str) -> tuple[int, int] | None:
    """What distinguishes a file from another one of the same name."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _no_space(path: str) -> bool:
    """Whether the disk of a file is full: SQLite reports a full disk as a broken one at times."""
    try:
        return shutil.disk_usage(Path(path).absolute().parent).free < 1 << 20
    except OSError:
        return False


def _parse(url: str | URL) -> URL:
    try:
        parsed = make_url(url)
    except exc.ArgumentError:
        raise Refused(
            "bad_request",
            f"{mask(str(url))!r} is not the address of a database.",
            "Use sqlite:////path/to/runyard.db or postgresql://user:password@host/name.",
        ) from None
    if parsed.drivername in ("postgres", "postgresql"):
        parsed = parsed.set(drivername="postgresql+psycopg")
    if parsed.drivername not in ("sqlite", "postgresql+psycopg") or parsed.database in (None, "", ":memory:"):
        raise Refused(
            "bad_request",
            f"Runyard cannot keep its rows in {mask(parsed.render_as_string())}.",
            "Use sqlite:////path/to/runyard.db or postgresql://user:password@host/name.",
        )
    return parsed


def _shown(url: URL) -> str:
    """A database as users know it, without its password."""
    return url.database or "" if _is_sqlite(url) else mask(url.render_as_string())


def _is_sqlite(url: URL) -> bool:
    return url.drivername == "sqlite"


def _engine(url: URL, fresh: bool = False) -> Engine:
    """`fresh`: every use of it is a new connection."""
    if not _is_sqlite(url):
        try:
            engine = create_engine(url, pool_size=10, max_overflow=40)
        except ModuleNotFoundError as error:
            from runyard.contracts.installation import installation

            raise Refused(
                "bad_request",
                "The driver for PostgreSQL is not installed.",
                f"Install it with `{installation().with_extra('postgres')}`.",
            ) from error
        event.listen(engine, "connect", _prepare_postgresql)
        event.listen(engine, "begin", _begin_postgresql)
        event.listen(engine, "checkin", _note_use)
        event.listen(engine, "checkout", partial(_ask_idle, engine.dialect))
        return engine
    path = Path(str(url.database)).absolute()
    path.parent.mkdir(parents=True, exist_ok=True)
    # Made here so that others cannot read it, whatever the umask; if a file cannot be used, SQLite reports why.
    with suppress(OSError):
        path.touch(mode=0o600, exist_ok=False)
    # The one that was used last is taken first: it has forgotten the least.
    pool: Any = {"poolclass": NullPool} if fresh else {"pool_size": 10, "max_overflow": 40, "pool_use_lifo": True}
    engine = create_engine(url, **pool)
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _note_use(connection: Any, record: ConnectionPoolEntry) -> None:
    record.info["used"] = time.monotonic()


def _ask_idle(
    dialect: Dialect, connection: DBAPIConnection, record: ConnectionPoolEntry, proxy: PoolProxiedConnection
) -> None:
    """A connection that was idle may have ended with its server. To ask at each use, as SQLAlchemy does it, costs a
    group of deliveries as much as two of its statements."""
    used = record.info.get("used")
    if used is None or time.monotonic() - used < ASKED_AFTER:
        return
    try:
        alive = dialect.do_ping(connection)
    except dialect.loaded_dbapi.Error:
        alive = False
    if not alive:
        raise exc.InvalidatePoolError()  # all are of the same server; another one is made


def _prepare_sqlite(connection: sqlite3.Connection, record: Any) -> None:
    # The driver's own idea of when a transaction begins would leave out reads and changes of tables.
    connection.isolation_level = None
    # A file that has a page already cannot be changed so (`runyard.store.compaction`), and trying to is a write.
    if connection.execute("PRAGMA page_count").fetchone()[0] == 0:
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
    for pragma in PRAGMAS:
        connection.execute(f"PRAGMA {pragma}")


def _prepare_postgresql(connection: Any, record: Any) -> None:
    connection.autocommit = True  # the driver would send BEGIN as a message of its own, for a single query too


def _begin_postgresql(connection: Connection) -> None:
    options = connection.get_execution_options()
    if options.get("looks", False):
        return
    sql = _BEGIN_WRITING if options.get("writes", False) else "BEGIN"
    driver: Any = connection.connection.dbapi_connection
    with driver_errors(connection.dialect, sql, ()):
        driver.execute(sql)  # not by SQLAlchemy, for which it is one more statement


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get("writes", False)
    driver: Any = connection.connection.dbapi_connection
    driver.execute("BEGIN IMMEDIATE" if writes else "BEGIN")  # not by SQLAlchemy, for which it is one more statement
