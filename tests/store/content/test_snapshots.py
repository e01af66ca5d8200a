from __future__ import annotations

import hashlib

import pytest

from runyard.contracts.manifest import FOLDER, LINK, Entry, Manifest, make
from runyard.store.content import snapshots
from runyard.store.errors import Conflict, NotFound
from runyard.store.store import Store


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def manifest() -> Manifest:
    return make(
        [
            Entry("train.py", digest=digest(b"print()"), size=7, executable=True),
            Entry("copy.py", digest=digest(b"print()"), size=7),
            Entry("data/ü.csv", digest=digest(b"1,2"), size=3),
            Entry("empty", FOLDER),
            Entry("link", LINK, target="train.py"),
        ]
    )


def test_what_is_missing_is_told_once_each(store: Store) -> None:
    assert snapshots.missing(store, manifest()) == [digest(b"print()"), digest(b"1,2")]
    store.objects.put([b"print()"])
    store.objects.put([b"1,2"])
    store.objects.path(digest(b"1,2")).write_bytes(b"1")  # torn
    assert snapshots.missing(store, manifest()) == [digest(b"1,2")]


def test_a_snapshot_is_read_back(store: Store) -> None:
    store.objects.put([b"print()"])
    store.objects.put([b"1,2"])
    for _ in range(2):
        with store.database.write() as connection:
            snapshots.create(connection, manifest())
    with store.database.read() as connection:
        assert snapshots.has(connection, manifest().id)
        assert snapshots.manifest_text(connection, manifest().id) == manifest().text
        assert snapshots.digests(connection, manifest().id) == {digest(b"print()"), digest(b"1,2")}


def test_an_empty_folder_is_a_snapshot(store: Store) -> None:
    with store.database.write() as connection:
        snapshots.create(connection, make([]))
    with store.database.read() as connection:
        assert snapshots.manifest_text(connection, make([]).id) == b""
        assert snapshots.digests(connection, make([]).id) == set()


def test_a_snapshot_without_its_objects_is_refused(store: Store) -> None:
    store.objects.put([b"print()"])
    with pytest.raises(Conflict) as caught, store.database.write() as connection:
        snapshots.create(connection, manifest())
    assert caught.value.detail == {"missing": [digest(b"1,2")]}
    with store.database.read() as connection:
        assert not snapshots.has(connection, manifest().id)


def test_one_that_is_not_there_is_told(store: Store) -> None:
    with store.database.read() as connection:
        assert not snapshots.has(connection, "x\0")
        for ask in (snapshots.manifest_text, snapshots.digests):
            with pytest.raises(NotFound) as caught:
                ask(connection, "0" * 64)
            assert caught.value.code == "snapshot_not_found"
