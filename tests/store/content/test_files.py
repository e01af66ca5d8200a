from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from sqlalchemy import Connection

from runyard.store.content import files
from runyard.store.content.files import FileEntry
from runyard.store.content.objects import Stored
from runyard.store.errors import Conflict, NotFound, Refused
from runyard.store.runs import runs
from runyard.store.runs.records import Run
from runyard.store.store import Store

MakeRun = Callable[..., Run]


def keep(store: Store, run_id: str, name: str, content: bytes) -> FileEntry:
    stored = store.objects.put([content])
    with store.database.write() as connection:
        return files.put(connection, run_id, name, stored)


def entry(store: Store, run_id: str, name: str) -> FileEntry:
    with store.database.read() as connection:
        return files.get(connection, run_id, name)


def content(store: Store, run_id: str, name: str) -> bytes:
    found = entry(store, run_id, name)
    if found.growing is not None:
        return store.growing.open(found.growing).read()
    assert found.digest is not None
    return store.objects.open(found.digest).read()


def digests(store: Store) -> set[str | None]:
    return {found.digest for found in store.objects.walk()}


def test_files_are_found_by_name_and_prefix(store: Store, make_run: MakeRun) -> None:
    make_run("r")
    make_run("other")
    long = "outputs/" + "ü" * 3000
    for name in ("outputs/b", "Outputs/c", "outputs/a_b", "outputs/a%b", "logs/x", "./outputs//model.pt", long):
        keep(store, "r", name, name.encode())
    keep(store, "other", "outputs/not-mine", b"")
    with store.database.read() as connection:
        assert [f.name for f in files.find(connection, "r", "outputs/a%")] == ["outputs/a%b"]
        assert [f.name for f in files.find(connection, "r", "outputs/a_")] == ["outputs/a_b"]
        names = [f.name for f in files.find(connection, "r")]
    assert names == sorted(names)
    assert set(names) >= {"Outputs/c", "outputs/model.pt", long}
    assert content(store, "r", "outputs/model.pt") == b"./outputs//model.pt"
    assert content(store, "r", long) == long.encode()


def test_what_is_not_there_is_told(store: Store, make_run: MakeRun) -> None:
    make_run("r")
    with store.database.read() as connection:
        with pytest.raises(NotFound) as caught:
            files.get(connection, "r", "outputs/none")
        assert caught.value.code == "file_not_found"
        with pytest.raises(NotFound, match="no run 'x'"):
            files.find(connection, "x")


@pytest.mark.parametrize("name", ["../secret", "/etc/passwd", "a/../../b", "", "a\0b"])
def test_a_name_that_leads_out_is_refused(store: Store, make_run: MakeRun, name: str) -> None:
    make_run("r")
    stored = store.objects.put([b"x"])
    with store.database.write() as connection:
        for ask in (files.put, files.growing, files.get):
            with pytest.raises(Refused) as caught:
                ask(connection, "r", name, *([stored] if ask is files.put else []))
            assert caught.value.code == "bad_name"


def test_a_replaced_file_is_freed_unless_something_else_uses_it(store: Store, make_run: MakeRun) -> None:
    make_run("r")
    keep(store, "r", "a", b"alone")
    keep(store, "r", "b", b"shared")
    keep(store, "r", "c", b"shared")
    alone, shared = entry(store, "r", "a").digest, entry(store, "r", "b").digest
    keep(store, "r", "a", b"new")
    keep(store, "r", "b", b"new")
    assert alone not in digests(store)
    assert shared in digests(store)
    keep(store, "r", "c", b"shared")  # the same again
    assert content(store, "r", "c") == b"shared"


def test_a_replacement_that_is_undone_frees_nothing(store: Store, make_run: MakeRun) -> None:
    make_run("r")
    keep(store, "r", "a", b"first")
    stored = store.objects.put([b"second"])

    def fail() -> None:
        with store.database.write() as connection:
            files.put(connection, "r", "a", stored)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert content(store, "r", "a") == b"first"


def test_a_name_for_an_object_that_is_gone_is_refused(store: Store, make_run: MakeRun) -> None:
    make_run("r")
    gone = store.objects.put([b"x"])
    store.objects.remove(gone.digest)
    torn = store.objects.put([b"whole"])
    for stored in (gone, Stored(torn.digest, 99)):
        with pytest.raises(Conflict) as caught, store.database.write() as connection:
            files.put(connection, "r", "a", stored)
        assert caught.value.code == "objects_missing"
        assert caught.value.detail == {"missing": [stored.digest]}
    with store.database.read() as connection:
        assert files.find(connection, "r") == []


def test_a_growing_file_is_made_once_and_tells_its_size(store: Store, make_run: MakeRun) -> None:
    make_run("r")
    with store.database.write() as connection:
        first = files.growing(connection, "r", "user_logs/std_log.txt")
        assert files.growing(connection, "r", "user_logs/std_log.txt").growing == first.growing
    assert (first.size, first.digest) == (0, None)
    assert first.growing is not None
    store.growing.append(first.growing, 0, b"one\n")
    now = entry(store, "r", "user_logs/std_log.txt")
    assert (now.size, now.growing, now.digest) == (4, first.growing, None)
    assert now.updated_at >= first.updated_at.replace(microsecond=0)


def test_appending_makes_skips_refuses_and_restarts(store: Store, make_run: MakeRun) -> None:
    make_run("r")
    assert files.append(store, "r", "log", 0, b"one\n") == 4
    assert files.append(store, "r", "log", 0, b"one\ntwo\n") == 8
    with pytest.raises(Conflict) as caught:
        files.append(store, "r", "log", 9, b"x")
    assert caught.value.detail == {"size": 8}
    assert files.append(store, "r", "log", 0, b"fresh\n", restart=True) == 6
    assert content(store, "r", "log") == b"fresh\n"
    with pytest.raises(NotFound):
        files.append(store, "nobody", "log", 0, b"x")


def test_sealing_makes_objects_of_all_growing_files(store: Store, make_run: MakeRun) -> None:
    make_run("r")
    make_run("other")
    files.append(store, "r", "a", 0, b"aaa")
    files.append(store, "r", "b", 0, b"")
    files.append(store, "other", "a", 0, b"goes on")
    keep(store, "r", "c", b"whole already")
    files.seal(store, "r")
    files.seal(store, "r")
    with store.database.read() as connection:
        assert [(f.name, f.size, f.growing) for f in files.find(connection, "r")] == [
            ("a", 3, None),
            ("b", 0, None),
            ("c", 13, None),
        ]
    assert content(store, "r", "a") == b"aaa"
    assert content(store, "other", "a") == b"goes on"
    assert len(store.growing.all()) == 1


def test_what_follows_a_seal_is_stored_with_it_or_not_at_all(store: Store, make_run: MakeRun) -> None:
    make_run("r")
    files.append(store, "r", "log", 0, b"one\n")

    def fail(connection: Connection) -> None:
        runs.record_state(connection, "r", "Completed", None)
        raise RuntimeError("no")

    with pytest.raises(RuntimeError):
        files.seal(store, "r", then=fail)
    with store.database.read() as connection:
        assert runs.get(connection, "r").status != "Completed"
    assert files.append(store, "r", "log", 4, b"two\n") == 8
    seen = []
    files.seal(store, "r", then=lambda connection: seen.append(files.get(connection, "r", "log").digest))
    files.seal(store, "r", then=lambda connection: seen.append("nothing was left to seal"))
    assert seen == [entry(store, "r", "log").digest, "nothing was left to seal"]
    assert content(store, "r", "log") == b"one\ntwo\n"


def test_a_sealed_file_grows_on(store: Store, make_run: MakeRun) -> None:
    make_run("r")
    files.append(store, "r", "log", 0, b"one\n")
    files.seal(store, "r")
    before = entry(store, "r", "log").digest
    assert files.append(store, "r", "log", 4, b"two\n") == 8
    assert content(store, "r", "log") == b"one\ntwo\n"
    assert before not in digests(store)
    files.seal(store, "r")
    assert content(store, "r", "log") == b"one\ntwo\n"


def test_a_whole_file_takes_the_place_of_a_growing_one(store: Store, make_run: MakeRun) -> None:
    make_run("r")
    files.append(store, "r", "log", 0, b"one\n")
    keep(store, "r", "log", b"all of it")
    assert content(store, "r", "log") == b"all of it"
    assert store.growing.all() == []


def test_bytes_survive_a_crash_in_the_middle_of_a_seal(store: Store, make_run: MakeRun) -> None:
    make_run("r")
    files.append(store, "r", "log", 0, b"one\n")
    key = entry(store, "r", "log").growing
    assert key is not None
    store.objects.adopt(store.growing.take(key))  # and here the process dies
    assert entry(store, "r", "log").size == 4
    assert content(store, "r", "log") == b"one\n"
    assert files.append(store, "r", "log", 4, b"two\n") == 8
    files.seal(store, "r")
    assert content(store, "r", "log") == b"one\ntwo\n"
    assert store.growing.all() == []


def test_a_log_that_grows_while_it_is_sealed_again_and_again_loses_nothing(store: Store, make_run: MakeRun) -> None:
    make_run("r")
    lines = [b"line %d\n" % number for number in range(150)]
    done = threading.Event()

    def write() -> None:
        size = 0
        try:
            for line in lines:
                size = files.append(store, "r", "log", size, line)
        finally:
            done.set()

    def seal() -> None:
        while not done.is_set():
            files.seal(store, "r")

    threads = [threading.Thread(target=write), threading.Thread(target=seal), threading.Thread(target=seal)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
        assert not thread.is_alive()
    files.seal(store, "r")
    assert content(store, "r", "log") == b"".join(lines)
    assert store.growing.all() == []
    assert len(list(store.objects.walk())) == 1


def test_changes_need_a_write_transaction(store: Store, make_run: MakeRun) -> None:
    make_run("r")
    stored = store.objects.put([b"x"])
    with pytest.raises(RuntimeError, match="write"), store.database.read() as connection:
        files.put(connection, "r", "a", stored)
    with store.database.read() as connection:
        assert runs.get(connection, "r").id == "r"
        assert files.find(connection, "r") == []
