from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import delete, select

from runyard.store import identity, tables
from runyard.store.content import files, sweeping
from runyard.store.database import Database
from runyard.store.errors import Mismatched
from runyard.store.runs import runs, workspaces
from runyard.store.runs.records import NewRun
from runyard.store.store import Store

Another = Callable[[], str]


@contextmanager
def opened(home: Path, url: str) -> Iterator[Store]:
    store = Store.open(home, url)
    try:
        with store.database.write() as connection:
            workspaces.ensure_default(connection)
        yield store
    finally:
        store.close()


@pytest.fixture
def another(tmp_path: Path) -> Another:
    """Addresses of databases that are not there yet."""
    numbers = iter(range(100))
    return lambda: f"sqlite:///{tmp_path}/another-{next(numbers)}.db"


def fill(home: Path, url: str, run_id: str = "r") -> None:
    """A run with a file and a log that grows."""
    with opened(home, url) as store:
        with store.database.write() as connection:
            runs.create(connection, NewRun(run_id, "local", "exp"))
        stored = store.objects.put([run_id.encode()])
        with store.database.write() as connection:
            files.put(connection, run_id, "model", stored)
        files.append(store, run_id, "log", 0, b"log of " + run_id.encode())


def forget_id(url: str) -> None:
    """As a Runyard that knew no ids has left it."""
    database = Database.open(url)
    with database.write() as connection:
        connection.execute(delete(tables.identity))
    database.close()


def read(store: Store, run_id: str, name: str) -> bytes:
    with store.database.read() as connection:
        entry = files.get(connection, run_id, name)
    if entry.growing is not None:
        return store.growing.open(entry.growing).read()
    return store.objects.open(str(entry.digest)).read()


def listing(home: Path) -> list[str]:
    return sorted(str(path.relative_to(home)) for path in home.rglob("*"))


def test_a_home_and_its_database_hold_the_same_id(home: Path, database_url: str) -> None:
    fill(home, database_url)
    with opened(home, database_url) as store, store.database.read() as connection:
        id = connection.scalar(select(tables.identity.c.id))
        assert (home / "store.id").read_text() == f"{id}\n"
    assert (home / "store.id").stat().st_mode & 0o077 == 0
    with opened(home, database_url) as store, store.database.read() as connection:
        assert connection.scalar(select(tables.identity.c.id)) == id


def test_another_database_is_refused_and_nothing_is_touched(home: Path, database_url: str, another: Another) -> None:
    fill(home, database_url)
    other = another()
    Database.open(other).close()
    before = listing(home)
    with pytest.raises(Mismatched) as caught:
        Store.open(home, other)
    assert caught.value.code == "database_mismatch"
    assert str(home) in caught.value.title
    assert "another-0.db" in caught.value.title
    assert "it does not know 2" in caught.value.title
    assert "runyard database join" in caught.value.help
    assert listing(home) == before
    with opened(home, database_url) as store:
        assert read(store, "r", "model") == b"r"


def test_the_database_of_another_home_is_refused(home: Path, database_url: str, tmp_path: Path) -> None:
    """Two homes on one database would each miss what the other one keeps."""
    fill(home, database_url)
    with pytest.raises(Mismatched, match="is not the one that belongs to"):
        Store.open(tmp_path / "other home", database_url)


def test_no_new_database_is_made_where_the_old_one_was_moved_away(home: Path) -> None:
    fill(home, f"sqlite:///{home}/runyard.db")
    (home / "runyard.db").rename(home / "mislaid.db")
    with pytest.raises(Mismatched) as caught:
        Store.open(home)
    assert caught.value.code == "database_missing"
    assert str(home / "runyard.db") in caught.value.title
    assert "RUNYARD_HOME" in caught.value.help
    assert not (home / "runyard.db").exists()
    (home / "mislaid.db").rename(home / "runyard.db")
    with opened(home, f"sqlite:///{home}/runyard.db") as store:
        assert read(store, "r", "log") == b"log of r"


def test_while_there_is_nothing_to_lose_any_database_will_do(home: Path, database_url: str, another: Another) -> None:
    for url in (database_url, another(), database_url):
        with opened(home, url):
            pass


def test_the_home_of_a_runyard_that_knew_no_ids_gets_one(home: Path, database_url: str) -> None:
    fill(home, database_url)
    forget_id(database_url)
    (home / "store.id").unlink()
    with opened(home, database_url) as store:
        assert read(store, "r", "model") == b"r"
    assert (home / "store.id").exists()


def test_without_ids_a_database_that_does_not_know_the_files_is_refused(
    home: Path, database_url: str, another: Another
) -> None:
    fill(home, database_url)
    (home / "store.id").unlink()
    other = another()
    Database.open(other).close()
    with pytest.raises(Mismatched):
        Store.open(home, other)
    forget_id(database_url)
    shutil.rmtree(home / "objects")
    with pytest.raises(Mismatched, match="of 1 file that it names 1 are not there"):
        Store.open(home, database_url)


@pytest.mark.parametrize("known", [False, True], ids=["before the database had the id", "after"])
def test_a_process_that_died_while_it_joined_them_leaves_nothing_stuck(
    home: Path, database_url: str, monkeypatch: pytest.MonkeyPatch, known: bool
) -> None:
    fill(home, database_url)
    forget_id(database_url)
    (home / "store.id").unlink()

    class Dies(Exception):
        pass

    def write(home: Path, *ids: str) -> None:
        if known and len(ids) == 1:
            raise Dies
        write_id(home, *ids)
        if not known:
            raise Dies

    write_id = identity._write
    with monkeypatch.context() as patched:
        patched.setattr(identity, "_write", write)
        with pytest.raises(Dies):
            Store.open(home, database_url)
    assert len((home / "store.id").read_text().split()) == 2
    with opened(home, database_url) as store:
        assert read(store, "r", "model") == b"r"
    assert len((home / "store.id").read_text().split()) == 1


def test_an_operator_joins_them_on_purpose(home: Path, database_url: str, another: Another) -> None:
    fill(home, database_url)
    other = another()
    store, fit = Store.join(home, other)
    store.close()
    assert (fit.files, fit.strange, fit.rows) == (2, 2, 0)
    fill(home, other, "new")  # its log has the number of the other log
    with opened(home, other) as store:
        assert read(store, "new", "log") == b"log of new"
        assert sweeping.sweep(store, timedelta(0)).files_aside == 1
    with pytest.raises(Mismatched):
        Store.open(home, database_url)

    store, _ = Store.join(home, database_url)
    store.close()
    with opened(home, database_url) as store:
        sweeping.bring_back(store)
        assert read(store, "r", "model") == b"r", "days later it would have been gone"
        with store.database.read() as connection:
            entry = files.get(connection, "r", "log")
        assert entry.growing is not None
