from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, exc, make_url, text

from runyard.store import migrations
from runyard.store.database import Database
from runyard.store.errors import Damaged, DiskFull, Refused, Unavailable
from runyard.store.runs import workspaces


def test_a_new_database_is_made_with_its_tables_and_opens_again(database_url: str) -> None:
    for _ in range(2):
        database = Database.open(database_url)
        with database.write() as connection:
            workspaces.ensure_default(connection)
            assert [row.name for row in workspaces.find(connection)] == ["local"]
        database.close()


def test_kind_tells_the_database(database_url: str) -> None:
    database = Database.open(database_url)
    database.check()
    assert database.kind == database_url.partition(":")[0]
    database.close()


def test_a_look_sees_what_was_stored_and_is_no_transaction_where_that_costs(database_url: str) -> None:
    database = Database.open(database_url)
    with database.write() as connection:
        workspaces.ensure_default(connection)
    with pytest.raises(exc.SQLAlchemyError), database.look() as connection:
        connection.execute(text("SELECT nothing FROM nowhere"))
    with database.look() as connection:
        assert [row.name for row in workspaces.find(connection)] == ["local"]
        assert _under_way(database, connection) == (database.kind == "sqlite")
    for transaction in (database.read, database.write):
        with transaction() as connection:
            assert _under_way(database, connection)
    database.close()


def _under_way(database: Database, connection: Connection) -> bool:
    """Whether the driver's connection is in a transaction."""
    driver: Any = connection.connection.dbapi_connection
    return bool(driver.in_transaction if database.kind == "sqlite" else driver.info.transaction_status)


def test_sqlite_is_set_up_for_many_readers_and_one_writer(tmp_path: Path) -> None:
    database = Database.open(f"sqlite:///{tmp_path}/a folder/r.db")
    with database.read() as connection:
        pragmas = {
            name: connection.execute(text(f"PRAGMA {name}")).scalar()
            for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        }
    assert pragmas == {"journal_mode": "wal", "synchronous": 1, "foreign_keys": 1, "busy_timeout": 30000}
    database.close()


def test_what_fails_leaves_nothing_behind(database_url: str) -> None:
    database = Database.open(database_url)

    def fail() -> None:
        with database.write() as connection:
            workspaces.ensure_default(connection)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    with database.write() as connection:  # and the lock is free again
        assert workspaces.find(connection) == []
    database.close()


def test_a_reader_sees_one_state_while_others_write(tmp_path: Path) -> None:
    database = Database.open(f"sqlite:///{tmp_path}/r.db")
    with database.read() as reading:
        assert workspaces.find(reading) == []
        with database.write() as writing:
            workspaces.ensure_default(writing)
        assert workspaces.find(reading) == []
    database.close()


def test_one_connection_to_sqlite_writes_whoever_reads_meanwhile(tmp_path: Path) -> None:
    """What it has read stays in its cache, which another writer would make it drop."""
    database = Database.open(f"sqlite:///{tmp_path / 'db'}")
    wrote, read = set(), set()
    for _ in range(3):
        with database.read() as reading:
            read.add(reading.connection.dbapi_connection)
            with database.write() as writing:
                workspaces.ensure_default(writing)
                wrote.add(writing.connection.dbapi_connection)
    assert (len(wrote), len(read)) == (1, 1)
    assert not wrote & read
    database.close()


def test_writers_take_turns(database_url: str) -> None:
    database = Database.open(database_url)
    inside, most = [], []

    def work() -> None:
        for _ in range(10):
            with database.write() as connection:
                inside.append(1)
                most.append(len(inside))
                connection.execute(text("SELECT 1"))
                inside.pop()

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(most) == 80
    assert max(most) == 1
    database.close()


def test_a_write_inside_a_write_is_told_not_waited_for(tmp_path: Path) -> None:
    database = Database.open(f"sqlite:///{tmp_path}/r.db")
    with database.write(), pytest.raises(RuntimeError, match="wait for itself"), database.write():
        pass
    database.close()


def test_a_file_that_is_no_database_is_named_with_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "runyard.db"
    path.write_bytes(b"this is a diary, not a database\n" * 200)
    with pytest.raises(Damaged) as caught:
        Database.open(f"sqlite:///{path}")
    assert caught.value.code == "database_damaged"
    assert str(path) in caught.value.title
    assert "move the whole home folder away" in caught.value.help
    assert path.read_bytes().startswith(b"this is a diary")


def test_a_database_with_torn_pages_is_told_as_damaged(tmp_path: Path) -> None:
    path = tmp_path / "runyard.db"
    Database.open(f"sqlite:///{path}").close()
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    content = path.read_bytes()
    path.write_bytes(content[:4096] + b"\xff" * (len(content) - 4096))

    def use() -> None:
        database = Database.open(f"sqlite:///{path}")
        with database.write() as connection:
            workspaces.ensure_default(connection)

    with pytest.raises(Damaged) as caught:
        use()
    assert caught.value.detail == {"path": str(path)}


def test_a_database_of_a_newer_runyard_is_left_alone(database_url: str) -> None:
    database = Database.open(database_url)
    with database.write() as connection:
        connection.execute(text(f"UPDATE {migrations.VERSION_TABLE} SET version_num = '9999'"))
    database.close()
    with pytest.raises(Damaged, match="newer Runyard") as caught:
        Database.open(database_url)
    assert "Upgrade Runyard" in caught.value.help


def test_a_full_disk_is_told_and_what_was_there_stays(tmp_path: Path) -> None:
    database = Database.open(f"sqlite:///{tmp_path}/r.db")
    with database.write() as connection:
        workspaces.ensure_default(connection)

    def fill() -> None:
        with database.write() as connection:
            pages = connection.execute(text("PRAGMA page_count")).scalar()
            connection.execute(text(f"PRAGMA max_page_count = {pages}"))
            workspaces.create(connection, "huge", "s", "g", description="x" * 1_000_000)

    with pytest.raises(DiskFull) as caught:
        fill()
    assert caught.value.code == "disk_full"
    assert str(tmp_path) in caught.value.title
    with database.read() as connection:
        assert [row.name for row in workspaces.find(connection)] == ["local"]
    database.close()


def test_a_folder_that_cannot_be_used_is_told(tmp_path: Path) -> None:
    (tmp_path / "r.db").mkdir()
    with pytest.raises(Unavailable, match=r"r\.db") as caught:
        Database.open(f"sqlite:///{tmp_path}/r.db")
    assert caught.value.code == "not_ready"


def test_a_postgresql_that_is_not_there_is_told(tmp_path: Path) -> None:
    pytest.importorskip("psycopg")
    with pytest.raises(Unavailable) as caught:
        Database.open(f"postgresql://ann:secret@/runyard?host={tmp_path}")
    assert "PostgreSQL" in caught.value.help
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("url", ["mysql://host/name", "runyard.db", "sqlite://", "sqlite:///:memory:", ""])
def test_an_address_of_no_use_is_refused_with_examples(url: str) -> None:
    with pytest.raises(Refused, match="postgresql://"):
        Database.open(url)


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+psycopg"])
def test_every_spelling_of_postgresql_is_understood(scheme: str, postgresql_url: str) -> None:
    database = Database.open(scheme + postgresql_url.removeprefix("postgresql"))
    database.check()
    database.close()


def test_two_processes_may_make_the_same_database_at_once(tmp_path: Path) -> None:
    program = "import sys; from runyard.store.database import Database; Database.open(sys.argv[1]).check()"
    command = [sys.executable, "-c", program, f"sqlite:///{tmp_path}/r.db"]
    processes = [subprocess.Popen(command, stderr=subprocess.PIPE) for _ in range(3)]
    results = [(process.communicate(timeout=60)[1], process.returncode) for process in processes]
    assert results == [(b"", 0)] * 3


def test_a_current_database_opens_without_loading_alembic(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/r.db"
    Database.open(url).close()
    program = (
        "import sys; from runyard.store.database import Database; Database.open(sys.argv[1]); "
        "sys.exit('alembic' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program, url], timeout=60).returncode == 0


def test_a_missing_driver_is_named_with_the_command_that_brings_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(Refused) as refused:
        Database.open("postgresql://user@host/runyard")
    assert refused.value.help is not None
    assert f"{sys.executable} -m pip install" in refused.value.help
    assert "[postgres]'" in refused.value.help


@pytest.mark.skipif(os.geteuid() != 0, reason="becoming another user needs root")
def test_a_file_that_takes_no_writes_is_found_out() -> None:
    folder = Path(tempfile.mkdtemp())  # which others may look into, unlike the folders of tests
    try:
        folder.chmod(0o755)
        database = Database.open(f"sqlite:///{folder}/r.db")
        database.check()
        (folder / "r.db").chmod(0o444)
        os.seteuid(65534)  # root may write anywhere
        try:
            with pytest.raises(Unavailable, match="cannot be used") as caught:
                database.check()
        finally:
            os.seteuid(0)
        assert caught.value.code == "not_ready"
        database.check()
        database.close()
    finally:
        shutil.rmtree(folder)


def test_a_postgresql_that_takes_no_writes_is_found_out(postgresql_url: str) -> None:
    """As a standby does, or a disk that PostgreSQL has closed to writers."""
    database = Database.open(postgresql_url)
    database.check()
    with database.write() as connection:
        name = make_url(postgresql_url).database
        connection.execute(text(f"ALTER DATABASE {name} SET default_transaction_read_only = on"))
    database.close()
    with pytest.raises(Unavailable, match="read-only") as caught:
        database.check()
    assert caught.value.code == "not_ready"
    database.close()


def test_damage_that_was_met_is_remembered(tmp_path: Path) -> None:
    file = tmp_path / "r.db"
    database = Database.open(f"sqlite:///{file}")
    with database.write() as connection:
        root = connection.execute(
            text("SELECT rootpage FROM sqlite_master WHERE name = 'launches_by_context'")
        ).scalar()
        size = connection.execute(text("PRAGMA page_size")).scalar()
    database.check()
    database.close()
    assert root is not None
    assert size is not None
    with file.open("r+b") as page:
        page.seek((root - 1) * size)
        page.write(b"\xff" * size)
    again = Database.open(f"sqlite:///{file}")
    with pytest.raises(Damaged), again.read() as connection:
        connection.execute(text("SELECT 1 FROM launches INDEXED BY launches_by_context WHERE context = 'x'")).all()
    with pytest.raises(Damaged) as caught:
        again.check()
    assert caught.value.code == "database_damaged"
    again.close()
