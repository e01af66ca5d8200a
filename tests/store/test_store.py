from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from runyard.contracts import states
from runyard.contracts.journal import line
from runyard.store import after_commit
from runyard.store.content import deletion, files
from runyard.store.database import Database
from runyard.store.metrics import journals, series
from runyard.store.runs import runs
from runyard.store.runs.runs import NewRun, Run, RunFilter
from runyard.store.store import Store

MakeRun = Callable[..., Run]


def together(*works: Callable[[], None]) -> None:
    """Run functions in threads of their own; fail with the first error of any of them."""
    errors: list[BaseException] = []

    def guarded(work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - handed to the test
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
        assert not thread.is_alive()
    if errors:
        raise errors[0]


def test_a_store_is_opened_in_its_home(tmp_path: Path) -> None:
    home = tmp_path / "a home? 100% #1"
    store = Store.open(home)
    assert sorted(path.name for path in home.iterdir() if path.suffix == "" or path.suffix == ".db") == [
        "growing",
        "objects",
        "runyard.db",
    ]
    assert home.stat().st_mode & 0o777 == 0o700
    store.close()


def test_eight_threads_write_at_once_and_nothing_is_lost(store: Store, make_run: MakeRun) -> None:
    make_run("shared")
    everybody = range(8)

    def worker(me: int) -> Callable[[], None]:
        def work() -> None:
            offset = size = 0
            for turn in range(6):
                with store.database.write() as connection:
                    runs.create(connection, NewRun(f"w{me}-{turn}", "local", "busy", tags={"worker": str(me)}))
                data = line("v", "loss", float(turn), float(turn), turn) + line("v", f"own {me}", turn, 1.0, None)
                with store.database.write() as connection:
                    offset = journals.accept(connection, "shared", f"writer-{me}", offset, data)
                size = files.append(store, "shared", f"logs/{me}", size, b"turn %d\n" % turn)
                files.append(store, "shared", "logs/all", 0, b"same\n")
                stored = store.objects.put([b"output %d" % turn])
                with store.database.write() as connection:
                    files.put(connection, "shared", f"outputs/{me}", stored)
                with store.database.read() as connection:
                    found, _ = runs.find(connection, RunFilter(tags=[("worker", str(me))]))
                    assert len(found) == turn + 1

        return work

    together(*(worker(me) for me in everybody))
    with store.database.read() as connection:
        made, _ = runs.find(connection, RunFilter(experiment="busy"), 100)
        metrics = {metric["name"]: metric for metric in series.read(connection, "shared")}
        found = {entry.name: entry for entry in files.find(connection, "shared")}
    assert sorted(run.number for run in made) == list(range(1, 49))
    assert [run.number for run in made] == list(range(48, 0, -1))
    assert sorted(metrics["loss"]["steps"]) == sorted([0, 1, 2, 3, 4, 5] * 8)
    assert all(metrics[f"own {me}"]["values"] == [0, 1, 2, 3, 4, 5] for me in everybody)
    assert found["logs/all"].size == len(b"same\n")
    assert all(found[f"logs/{me}"].size == 6 * len(b"turn 0\n") for me in everybody)
    assert {found[f"outputs/{me}"].digest for me in everybody} == {found["outputs/0"].digest}
    assert [object.path.read_bytes() for object in store.objects.walk()] == [b"output 5"]


def test_a_name_never_dangles_while_its_content_is_deleted(store: Store, make_run: MakeRun) -> None:
    """A file of one run is deleted again and again while another run takes a name for the same content."""
    make_run("keeper")
    done = threading.Event()

    def keep(run_id: str, content: bytes) -> None:
        stored = store.objects.put([content])
        with store.database.write() as connection:
            files.put(connection, run_id, "a", stored)

    def delete() -> None:
        try:
            for turn in range(25):
                make_run(f"short-{turn}", status=states.FAILED)
                keep(f"short-{turn}", b"the same")
                deletion.delete_runs(store, [f"short-{turn}"])
        finally:
            done.set()

    def name() -> None:
        while not done.is_set():
            for content in (b"the same", b"other"):
                keep("keeper", content)
                with store.database.read() as connection:
                    kept = files.get(connection, "keeper", "a")
                assert kept.digest is not None
                assert store.objects.open(kept.digest).read() == content

    together(delete, name)


def test_a_database_without_folders_says_so(tmp_path: Path) -> None:
    database = Database.open(f"sqlite:///{tmp_path}/r.db")
    with database.read() as connection, pytest.raises(RuntimeError, match="open it through Store"):
        after_commit.folders(connection)
    database.close()
