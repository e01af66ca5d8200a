"""Giving the space of deleted rows back to the disk.

An SQLite file keeps the pages of deleted rows for later ones. In a file that was made for it, a server hands them back
in small steps (`reclaim`). One that an older Runyard has made is rewritten once, while no server runs (`compact`); from
then on it is like the others. PostgreSQL looks after its own files.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection

from runyard.store.database import Database
from runyard.store.errors import Conflict, DiskFull

STEP = 500
"""Pages that one transaction hands back: some milliseconds."""

SPARE = 0.05
"""The part of a file that may be empty: what is deleted is soon followed by more."""

FEW_PAGES = 2000

INCREMENTAL = 2
"""What `PRAGMA auto_vacuum` returns for a file that can shrink in steps."""

_OPERATIONS = 100_000
"""Of SQLite's machine, between two reports of progress."""


@dataclass(frozen=True)
class Compacted:
    before: int
    after: int


def reclaim(database: Database) -> int:
    """Hand empty pages back, but for a few; returns the bytes by which the file shrinks. Others write in between."""
    if database.kind != "sqlite":
        return 0
    freed = 0
    while True:
        with database.write() as connection:
            pages, empty = _pragma(connection, "page_count"), _pragma(connection, "freelist_count")
            if _pragma(connection, "auto_vacuum") != INCREMENTAL or empty <= max(FEW_PAGES, SPARE * pages):
                return freed
            driver = connection.connection.driver_connection
            assert isinstance(driver, sqlite3.Connection)
            driver.execute(f"PRAGMA incremental_vacuum({STEP})").fetchall()  # each row is a page that was moved
            handed_back = empty - _pragma(connection, "freelist_count")
            if handed_back <= 0:
                return freed
            freed += handed_back * _pragma(connection, "page_size")


def compact(path: Path, progress: Callable[[float], None]) -> Compacted:
    """Rewrite a file without its empty pages. Nobody else may use it; `progress` is told which part is done.

    The new file is written beside the old one and takes its place by a rename: whoever is killed meanwhile leaves the
    database as it was, and a file that the next call removes.
    """
    aside = path.with_name(f"{path.name}.compacting")
    aside.unlink(missing_ok=True)
    before = path.stat().st_size
    with closing(sqlite3.connect(path, timeout=5, isolation_level=None)) as connection:
        busy = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        if busy:
            raise _in_use(path)
        pages, empty, size = (
            connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
        )
        needed = (pages - empty) * size
        _refuse_without_room(path, needed + needed // 10 + (1 << 20))
        # Made here so that others cannot read it, whatever the umask.
        aside.touch(mode=0o600)
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        connection.set_progress_handler(lambda: progress(min(1.0, _size(aside) / max(1, needed))), _OPERATIONS)
        try:
            connection.execute("VACUUM INTO ?", (str(aside),))
        except BaseException:
            aside.unlink(missing_ok=True)
            raise
    wal = path.with_name(f"{path.name}-wal")
    if wal.exists() and wal.stat().st_size:  # it would be applied to the new file, which it does not belong to
        aside.unlink()
        raise _in_use(path)
    _to_disk(aside)
    os.replace(aside, path)
    _to_disk(path.parent)
    return Compacted(before, path.stat().st_size)


def _pragma(connection: Connection, name: str) -> int:
    return int(connection.exec_driver_sql(f"PRAGMA {name}").scalar_one())


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _to_disk(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _refuse_without_room(path: Path, needed: int) -> None:
    free = shutil.disk_usage(path.parent).free
    if free < needed:
        raise DiskFull(
            "disk_full",
            f"The new file needs {needed:,} bytes beside {path}, and its disk has {free:,} left.",
            "Free some space, or move the home folder to a larger disk. Nothing was changed.",
            {"path": str(path), "needed": needed, "free": free},
        )


def _in_use(path: Path) -> Conflict:
    return Conflict(
        "not_ready",
        f"Another program has {path} open.",
        "End it (a `sqlite3` shell, a backup), then try again. Nothing was changed.",
        {"path": str(path)},
    )
