"""If these fail, a row may name an object that is not there, or files that nothing uses pile up on the disk."""

from __future__ import annotations

import logging
from collections.abc import Callable

import pytest

from runyard.store import after_commit
from runyard.store.content import files
from runyard.store.content.objects import Stored
from runyard.store.database import Database
from runyard.store.errors import Conflict
from runyard.store.runs.records import Run
from runyard.store.store import Store

MakeRun = Callable[..., Run]


def test_a_row_that_names_a_missing_object_is_not_committed(store: Store, make_run: MakeRun) -> None:
    make_run("r")
    there = store.objects.put([b"there"])

    def put_both() -> None:
        with store.database.write() as connection:
            files.put(connection, "r", "a", there)
            files.put(connection, "r", "b", Stored("0" * 64, 3))

    with pytest.raises(Conflict) as refused:
        put_both()
    assert (refused.value.code, refused.value.detail) == ("objects_missing", {"missing": ["0" * 64]})
    with store.database.read() as connection:
        assert files.find(connection, "r") == []


def test_what_a_commit_no_longer_uses_is_removed_and_what_others_use_stays(store: Store, make_run: MakeRun) -> None:
    make_run("r")
    old, shared, new = (store.objects.put([content]) for content in (b"old", b"shared", b"new"))
    with store.database.write() as connection:
        files.put(connection, "r", "a", old)
        files.put(connection, "r", "b", shared)
        files.put(connection, "r", "c", shared)
    with store.database.write() as connection:
        files.put(connection, "r", "a", new)
        files.put(connection, "r", "b", new)
    assert [store.objects.has(each.digest) for each in (old, shared, new)] == [False, True, True]


def test_a_failed_transaction_removes_nothing(store: Store, make_run: MakeRun) -> None:
    make_run("r")
    old, new = store.objects.put([b"old"]), store.objects.put([b"new"])
    with store.database.write() as connection:
        files.put(connection, "r", "a", old)

    def fail() -> None:
        with store.database.write() as connection:
            files.put(connection, "r", "a", new)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert store.objects.has(old.digest)


def test_a_file_that_cannot_be_removed_is_logged_and_fails_nobody(
    store: Store, make_run: MakeRun, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    make_run("r")
    old, new = store.objects.put([b"old"]), store.objects.put([b"new"])
    with store.database.write() as connection:
        files.put(connection, "r", "a", old)

    def refuse(digest: str) -> None:
        raise PermissionError(13, "Permission denied", digest)

    monkeypatch.setattr(store.objects, "remove", refuse)
    with caplog.at_level(logging.WARNING, "runyard.store.after_commit"), store.database.write() as connection:
        files.put(connection, "r", "a", new)
    assert "Permission denied" in caplog.text
    with store.database.read() as connection:
        assert files.get(connection, "r", "a").digest == new.digest


def test_which_objects_no_row_names(store: Store, make_run: MakeRun) -> None:
    make_run("r")
    named = store.objects.put([b"named"])
    with store.database.write() as connection:
        files.put(connection, "r", "a", named)
    others = {f"{number:064x}" for number in range(600)}
    with store.database.read() as connection:
        assert after_commit.unnamed(connection, {named.digest, *others}) == others
        assert after_commit.unnamed(connection, []) == set()


def test_effects_need_a_write_and_folders_need_a_store(store: Store, database_url: str) -> None:
    with store.database.read() as connection, pytest.raises(RuntimeError, match=r"Database\.write"):
        after_commit.effects(connection)
    bare = Database.open(database_url)
    try:
        with bare.read() as connection, pytest.raises(RuntimeError, match="open it through Store"):
            after_commit.folders(connection)
    finally:
        bare.close()
