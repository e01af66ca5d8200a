"""The file of a database becomes smaller, and nothing in it is lost, whoever dies meanwhile."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import delete, insert

from runyard.store import compaction, tables
from runyard.store.database import Database
from runyard.store.errors import Conflict, DiskFull
from runyard.store.runs import workspaces

pytestmark = pytest.mark.slow

MANY = 3000


def fill(database: Database) -> None:
    with database.write() as connection:
        workspaces.ensure_default(connection)
        rows = [
            {"id": f"s{n}", "manifest": os.urandom(4000), "size": 1, "created_at": tables.EPOCH} for n in range(MANY)
        ]
        connection.execute(insert(tables.snapshots), rows)
    with database.write() as connection:
        connection.execute(delete(tables.snapshots).where(tables.snapshots.c.id != "s7"))


def holds_what_it_held(path: Path) -> bool:
    with closing(sqlite3.connect(path)) as connection:
        whole = connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
        return whole and connection.execute("SELECT id FROM snapshots").fetchall() == [("s7",)]


def vacuum_mode(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return int(connection.execute("PRAGMA auto_vacuum").fetchone()[0])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "runyard.db"


@pytest.fixture
def database(path: Path) -> Iterator[Database]:
    database = Database.open(f"sqlite:///{path}")
    yield database
    database.close()


@pytest.fixture
def old_file(path: Path) -> Path:
    """A file as an older Runyard has made it, with much that was deleted."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE former (x)")
    with closing(Database.open(f"sqlite:///{path}")) as database:
        fill(database)
    assert vacuum_mode(path) != compaction.INCREMENTAL
    return path


def test_a_new_file_shrinks_while_it_is_used(database: Database, path: Path) -> None:
    fill(database)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    before = path.stat().st_size
    freed = compaction.reclaim(database)
    assert freed > MANY * 4000 // 4
    assert compaction.reclaim(database) == 0
    database.close()
    assert path.stat().st_size <= before - freed
    assert holds_what_it_held(path)


def test_an_old_file_is_left_until_it_is_compacted(old_file: Path) -> None:
    with closing(Database.open(f"sqlite:///{old_file}")) as database:
        assert compaction.reclaim(database) == 0
    seen: list[float] = []
    done = compaction.compact(old_file, seen.append)
    assert done.after == old_file.stat().st_size < done.before / 10
    assert all(0 <= part <= 1 for part in seen)
    assert vacuum_mode(old_file) == compaction.INCREMENTAL
    assert holds_what_it_held(old_file)
    assert old_file.stat().st_mode & 0o777 == 0o600
    with closing(Database.open(f"sqlite:///{old_file}")) as database:
        database.check()
    assert [each.name for each in old_file.parent.iterdir()] == [old_file.name]


def test_without_room_nothing_is_changed(old_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = old_file.read_bytes()
    usage = shutil.disk_usage(old_file)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=1000))
    with pytest.raises(DiskFull, match="has 1,000 left"):
        compaction.compact(old_file, lambda part: None)
    assert old_file.read_bytes() == before


def test_a_file_that_another_program_reads_is_left_alone(old_file: Path) -> None:
    with closing(Database.open(f"sqlite:///{old_file}")) as database, closing(sqlite3.connect(old_file)) as other:
        other.execute("BEGIN")
        other.execute("SELECT count(*) FROM snapshots").fetchall()
        with database.write() as connection:
            connection.execute(delete(tables.snapshots).where(tables.snapshots.c.id == "none"))
            workspaces.create(connection, "other", "s", "g")
        with pytest.raises(Conflict, match="Another program"):
            compaction.compact(old_file, lambda part: None)
    assert holds_what_it_held(old_file)


KILLED = """
import os, signal, sys
from pathlib import Path
from runyard.store import compaction

compaction._OPERATIONS = 1
compaction.compact(Path(sys.argv[1]), lambda part: os.kill(os.getpid(), signal.SIGKILL))
"""


def test_who_is_killed_leaves_the_database_as_it_was(old_file: Path) -> None:
    ended = subprocess.run([sys.executable, "-c", KILLED, str(old_file)], check=False, timeout=60)
    assert ended.returncode == -9
    assert holds_what_it_held(old_file)
    aside = old_file.with_name("runyard.db.compacting")
    assert aside.exists()
    compaction.compact(old_file, lambda part: None)
    assert not aside.exists()
    assert holds_what_it_held(old_file)


def test_postgresql_looks_after_itself(postgresql_url: str) -> None:
    with closing(Database.open(postgresql_url)) as database:
        assert compaction.reclaim(database) == 0
