from __future__ import annotations

import os
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from runyard.contracts import states
from runyard.contracts.manifest import Entry, make
from runyard.store.content import aside, deletion, files, snapshots, sweeping
from runyard.store.content.aside import Held
from runyard.store.content.sweeping import Swept
from runyard.store.runs.records import Run
from runyard.store.store import Store

MakeRun = Callable[..., Run]
AN_HOUR, NO_TIME = timedelta(hours=1), timedelta(0)


def keep(store: Store, run_id: str, name: str, content: bytes) -> str:
    stored = store.objects.put([content])
    with store.database.write() as connection:
        files.put(connection, run_id, name, stored)
    return stored.digest


def leave(store: Store, *contents: bytes) -> list[str]:
    """Objects that nobody names, or is about to name."""
    digests = [store.objects.put([content]).digest for content in contents]
    store.objects.let_go(digests)
    return digests


def snapshot(store: Store, content: bytes) -> str:
    stored = store.objects.put([content])
    manifest = make([Entry("a", digest=stored.digest, size=stored.size)])
    with store.database.write() as connection:
        snapshots.create(connection, manifest)
    return manifest.id


def contents(store: Store) -> set[bytes]:
    return {found.path.read_bytes() for found in store.objects.walk()}


def grow_old(*folders: Path, hours: float = 1.1) -> None:
    then = time.time() - hours * 3600
    for folder in folders:
        for path in folder.rglob("*"):
            os.utime(path, (then, then))


def test_what_no_row_names_is_moved_aside_first_and_removed_days_later(store: Store, make_run: MakeRun) -> None:
    make_run("r", snapshot_id=snapshot(store, b"used"))
    snapshot(store, b"never run")
    keep(store, "r", "a", b"named")
    files.append(store, "r", "log", 0, b"grows")
    leave(store, b"orphan")
    (store.objects.incoming / "of-a-dead-writer").write_bytes(b"half")
    store.growing.restart(999)
    store.growing.append(999, 0, b"lost")
    assert sweeping.sweep(store, AN_HOUR) == Swept()
    grow_old(store.objects.folder, store.growing.folder)
    swept = sweeping.sweep(store, AN_HOUR)
    assert swept == Swept(files_aside=2, bytes_aside=len(b"orphanlost"), bytes_freed=len(b"half"))
    assert contents(store) == {b"used", b"named", b"never run"}, "the snapshot itself is not an hour old"
    assert sweeping.sweep(store, NO_TIME) == Swept(files_aside=1, bytes_aside=len(b"never run"))
    assert contents(store) == {b"used", b"named"}
    assert len(store.growing.all()) == 1
    assert {each.size for each in store.objects.aside.waiting()} == {len(b"orphan"), len(b"never run")}

    grow_old(store.objects.aside.folder, store.growing.aside.folder, hours=24 * 6.9)
    assert sweeping.sweep(store, AN_HOUR) == Swept()
    grow_old(store.objects.aside.folder, store.growing.aside.folder, hours=24 * 7.1)
    assert sweeping.sweep(store, AN_HOUR) == Swept(bytes_freed=len(b"orphanlostnever run"))
    assert store.objects.aside.waiting() == store.growing.aside.waiting() == []
    assert contents(store) == {b"used", b"named"}


def test_what_waits_comes_back_when_it_is_sent_or_named_again(store: Store, make_run: MakeRun) -> None:
    make_run("r")
    keep(store, "r", "a", b"named")
    opened, linked = leave(store, b"opened", b"linked")
    sweeping.sweep(store, NO_TIME)
    assert contents(store) == {b"named"}
    with store.objects.open(opened) as file:
        assert file.read() == b"opened"
    assert store.objects.size(linked) == len(b"linked")
    assert contents(store) == {b"named", b"opened", b"linked"}
    assert sweeping.sweep(store, AN_HOUR) == Swept(), "what has come back counts as new"


def test_what_the_rows_of_the_right_database_name_comes_back(store: Store, make_run: MakeRun) -> None:
    """The rows were not there for a while: another database was joined with the home, or an old copy."""
    make_run("r")
    kept = keep(store, "r", "a", b"named")
    files.append(store, "r", "log", 0, b"grows")
    (key,) = store.growing.all()
    store.objects.set_aside(kept)
    store.growing.set_aside(key)
    sweeping.bring_back(store)
    assert contents(store) == {b"named"}
    with store.growing.open(key) as file:
        assert file.read() == b"grows"


def test_most_of_a_folder_is_never_moved_unless_an_operator_says_so(store: Store, make_run: MakeRun) -> None:
    make_run("r")
    for number in range(30):
        keep(store, "r", f"{number}", b"named %d" % number)
    leave(store, *(b"strange %d" % number for number in range(31)))
    before = contents(store)
    held = Held(31, sum(len(b"strange %d" % number) for number in range(31)), 61)
    assert sweeping.sweep(store, NO_TIME) == Swept(held=held)
    assert contents(store) == before
    assert aside.held_back(store.objects.folder) == held

    assert sweeping.sweep(store, NO_TIME, even_most=True).files_aside == 31
    assert len(contents(store)) == 30
    assert aside.held_back(store.objects.folder) is None


def test_logs_of_a_database_that_is_much_poorer_stay_too(store: Store) -> None:
    for key in range(1, 40):
        store.growing.restart(key)
    swept = sweeping.sweep(store, NO_TIME)
    assert swept.held == Held(39, 0, 39)
    assert len(store.growing.all()) == 39


def test_few_files_that_are_large_are_held_back_as_well(
    store: Store, make_run: MakeRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweeping, "LITTLE", 10)
    leave(store, b"the only model")
    assert sweeping.sweep(store, NO_TIME).held == Held(1, 14, 1)
    assert contents(store) == {b"the only model"}


def test_snapshots_that_were_never_run_may_be_most_of_what_there_is(store: Store) -> None:
    """This database has named their objects a moment ago: they are no sign that it is the wrong one."""
    for number in range(40):
        snapshot(store, b"never run %d" % number)
    swept = sweeping.sweep(store, NO_TIME)
    assert (swept.files_aside, swept.held) == (40, None)
    assert contents(store) == set()


def test_what_a_user_deletes_goes_at_once(store: Store, make_run: MakeRun) -> None:
    """`runyard rm` says how many bytes came free: the disk must have them."""
    make_run("r", status=states.COMPLETED)
    digest = keep(store, "r", "a", b"weights")
    assert deletion.delete_runs(store, ["r"]).bytes_freed == len(b"weights")
    assert store.objects.aside.waiting() == []
    make_run("r2", status=states.COMPLETED)
    keep(store, "r2", "a", b"weights")
    store.objects.set_aside(digest)
    assert deletion.delete_runs(store, ["r2"]).bytes_freed == len(b"weights"), "also what waits, if a run had it"
    assert store.objects.aside.waiting() == []
    assert contents(store) == set()


def test_folders_that_are_not_the_stores_are_left_alone(store: Store) -> None:
    for name in ("lost+found", "notes"):
        (store.objects.folder / name).mkdir()
        (store.objects.folder / name / "mine").write_text("not yours")
    grow_old(store.objects.folder, hours=24 * 30)
    sweeping.sweep(store, AN_HOUR)
    assert (store.objects.folder / "notes" / "mine").exists()
    assert (store.objects.folder / "lost+found" / "mine").exists()
