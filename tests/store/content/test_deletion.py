from __future__ import annotations

from collections.abc import Callable

import pytest
from sqlalchemy import func, select

from runyard.contracts import states
from runyard.contracts.journal import line
from runyard.contracts.manifest import Entry, make
from runyard.store import tables
from runyard.store.content import deletion, files, snapshots
from runyard.store.content.deletion import Freed
from runyard.store.errors import Conflict, NotFound
from runyard.store.metrics import journals
from runyard.store.runs import experiments, runs, workspaces
from runyard.store.runs.records import NewRun, Run
from runyard.store.store import Store

MakeRun = Callable[..., Run]
DETAILS = ["launches", "states", "labels", "files", "journals", "series", "descriptions", "chunks"]


def rows(store: Store, *names: str) -> dict[str, int]:
    with store.database.read() as connection:
        return {
            name: connection.scalar(select(func.count()).select_from(tables.metadata.tables[name])) or 0
            for name in names
        }


def keep(store: Store, run_id: str, name: str, content: bytes) -> None:
    stored = store.objects.put([content])
    with store.database.write() as connection:
        files.put(connection, run_id, name, stored)


def snapshot(store: Store, **content: bytes) -> str:
    stored = {name: store.objects.put([text]) for name, text in content.items()}
    manifest = make([Entry(name, digest=s.digest, size=s.size) for name, s in stored.items()])
    with store.database.write() as connection:
        snapshots.create(connection, manifest)
    return manifest.id


def contents(store: Store) -> set[bytes]:
    return {found.path.read_bytes() for found in store.objects.walk()}


def end(store: Store, *ids: str) -> None:
    with store.database.write() as connection:
        for id in ids:
            runs.record_state(connection, id, states.COMPLETED, "completed")


def fill(store: Store, run_id: str) -> int:
    """Give a run something of everything; returns the bytes of its packed metrics."""
    data = (
        line("v", "loss", 0.5, 1.0, 1)
        + line("l", "ints", [1, 2], 1.0)
        + line("d", "loss", "text")
        + line("g", {"k": "v"})
    )
    with store.database.write() as connection:
        journals.accept(connection, run_id, "w", 0, data)
    return 3 * 8 + (2 * 8 + len("[1,2]"))


def test_everything_of_a_run_goes_and_its_bytes_are_told(store: Store, make_run: MakeRun) -> None:
    id = snapshot(store, train=b"print()", data=b"1,2")
    make_run("r", snapshot_id=id, tags={"a": "b"}, definition={"x": 1})
    packed = fill(store, "r")
    keep(store, "r", "outputs/model", b"weights")
    files.append(store, "r", "log", 0, b"one\n")
    end(store, "r")
    assert all(rows(store, *DETAILS).values())
    freed = deletion.delete_runs(store, ["r"])
    assert freed == Freed(runs=1, objects=3, bytes_freed=7 + 3 + 7 + 4 + packed)
    left = rows(store, *DETAILS, "runs", "snapshots", "snapshot_objects")
    assert left == dict.fromkeys(left, 0)
    assert contents(store) == set()
    assert store.growing.all() == []
    with store.database.read() as connection, pytest.raises(NotFound):
        runs.get(connection, "r")


def test_what_others_use_stays(store: Store, make_run: MakeRun) -> None:
    one = snapshot(store, train=b"print()", data=b"one")
    two = snapshot(store, train=b"print()", data=b"two")
    make_run("r", snapshot_id=one)
    make_run("same", snapshot_id=one)
    make_run("other", snapshot_id=two)
    keep(store, "r", "a", b"shared with a file")
    keep(store, "same", "b", b"shared with a file")
    keep(store, "r", "c", b"two")  # shared with a snapshot
    keep(store, "r", "d", b"mine")
    end(store, "r", "same", "other")
    freed = deletion.delete_runs(store, ["r"])
    assert freed == Freed(runs=1, objects=1, bytes_freed=4)
    assert contents(store) == {b"print()", b"one", b"two", b"shared with a file"}
    assert deletion.delete_runs(store, ["same"]).objects == 2
    assert contents(store) == {b"print()", b"two"}


def test_descendants_go_with_a_run(store: Store, make_run: MakeRun) -> None:
    for id, parent in (("root", None), ("child", "root"), ("grandchild", "child"), ("other", None)):
        make_run(id, parent_id=parent)
        keep(store, id, "a", id.encode())
    end(store, "root", "child", "grandchild", "other")
    assert deletion.delete_runs(store, ["child", "root"]) == Freed(runs=3, objects=3, bytes_freed=4 + 5 + 10)
    assert contents(store) == {b"other"}


def test_a_run_that_goes_on_is_not_deleted(store: Store, make_run: MakeRun) -> None:
    make_run("root")
    make_run("child", parent_id="root", status=states.RUNNING)
    end(store, "root")
    keep(store, "root", "a", b"kept")
    with pytest.raises(Conflict) as caught:
        deletion.delete_runs(store, ["root"])
    assert caught.value.code == "run_active"
    assert caught.value.detail == {"run": "child", "status": "Running"}
    assert contents(store) == {b"kept"}
    with pytest.raises(NotFound):
        deletion.delete_runs(store, ["nobody"])


def test_numbers_are_not_given_again(store: Store, make_run: MakeRun) -> None:
    make_run("one")
    make_run("two")
    end(store, "two")
    deletion.delete_runs(store, ["two"])
    assert make_run("three").number == 3


def test_an_experiment_goes_with_its_runs(store: Store, make_run: MakeRun) -> None:
    id = make_run("a1", experiment="a").experiment_id
    make_run("a2", experiment="a")
    make_run("b1", experiment="b")
    keep(store, "a1", "x", b"gone")
    keep(store, "b1", "x", b"stays")
    end(store, "a1")
    with pytest.raises(Conflict) as caught:
        deletion.delete_experiment(store, id)
    assert caught.value.code == "experiment_active"
    end(store, "a2")
    assert deletion.delete_experiment(store, id) == Freed(runs=2, experiments=1, objects=1, bytes_freed=4)
    with store.database.read() as connection:
        assert [row.name for row in experiments.find(connection, "local")] == ["b"]
    with pytest.raises(NotFound):
        deletion.delete_experiment(store, id)
    assert make_run("again", experiment="a").number == 1


def test_a_workspace_goes_with_all_that_is_in_it(store: Store, make_run: MakeRun) -> None:
    with store.database.write() as connection:
        workspaces.create(connection, "other", "s", "g")
        experiments.ensure(connection, "other", "empty")
    make_run("o", workspace="other", experiment="a")
    make_run("mine")
    keep(store, "o", "x", b"gone")
    with pytest.raises(Conflict, match="'o' goes on"):
        deletion.delete_workspace(store, "other")
    end(store, "o")
    assert deletion.delete_workspace(store, "other") == Freed(runs=1, experiments=2, objects=1, bytes_freed=4)
    with store.database.read() as connection:
        assert [row.name for row in workspaces.find(connection)] == ["local"]
        assert runs.get(connection, "mine").workspace == "local"


def test_content_that_has_just_come_in_is_not_taken_from_under_its_uploader(store: Store, make_run: MakeRun) -> None:
    make_run("old")
    make_run("new")
    keep(store, "old", "a", b"the same")
    end(store, "old")
    stored = store.objects.put([b"the same"])  # the server has it already, and is about to name it
    assert deletion.delete_runs(store, ["old"]).objects == 0
    with store.database.write() as connection:
        files.put(connection, "new", "a", stored)
    end(store, "new")
    assert deletion.delete_runs(store, ["new"]) == Freed(runs=1, objects=1, bytes_freed=8)


def test_deleting_many_runs_at_once(store: Store) -> None:
    with store.database.write() as connection:
        for number in range(510):
            runs.create(connection, NewRun(f"r{number}", "local", "exp", states.FAILED))
    assert deletion.delete_runs(store, [f"r{number}" for number in range(510)]).runs == 510
    assert rows(store, "runs", "states")["runs"] == 0
