"""If these fail, what an attempt of a run has logged is lost or mixed with what the next one logs."""

from __future__ import annotations

import pytest

from runyard.contracts import states
from runyard.store.content import files
from runyard.store.errors import Conflict
from runyard.store.runs import attempts, runs
from runyard.store.runs.records import NewRun
from runyard.store.store import Store


@pytest.fixture
def id(store: Store) -> str:
    with store.database.write() as connection:
        launch = {"command": "true", "directories_to_watch": ["logs", "./seen/", "outputs", "../up"], "restarts": 5}
        return runs.create(connection, NewRun("run-1", "local", "e", states.RUNNING, launch=launch, nodes=2)).id


def read(store: Store, run_id: str) -> dict[str, bytes]:
    with store.database.read() as connection:
        entries = files.find(connection, run_id)
    found = {}
    for entry in entries:
        opened = store.objects.open(entry.digest) if entry.digest else store.growing.open(int(entry.growing or 0))
        with opened as file:
            found[entry.name] = file.read()
    return found


def test_the_next_attempt_begins_its_logs_anew_and_the_former_ones_are_kept(store: Store, id: str) -> None:
    for name in ("user_logs/std_log.txt", "system_logs/runner.log", "logs/a/b.txt", "seen/x", "logs/attempt_1/b.txt"):
        files.append(store, id, name, 0, b"first")
    with store.database.write() as connection:
        stored = store.objects.put([b"model"])
        files.put(connection, id, "outputs/model.pt", stored)
        attempts.ask(connection, id, "preempted on purpose")
        assert runs.get(connection, id).restart == "preempted on purpose"
        assert attempts.begin_next(connection, id) == 2
    files.append(store, id, "user_logs/std_log.txt", 0, b"second")
    files.append(store, id, "user_logs/attempt_1/std_log.txt", 5, b", late")  # a former file may still grow
    with store.database.write() as connection:
        assert attempts.begin_next(connection, id) == 3
    files.seal(store, id)
    assert read(store, id) == {
        "logs/attempt_1/a/b.txt": b"first",
        "logs/attempt_1/attempt_1/b.txt": b"first",
        "outputs/model.pt": b"model",
        "seen/attempt_1/x": b"first",
        "system_logs/attempt_1/runner.log": b"first",
        "user_logs/attempt_1/std_log.txt": b"first, late",
        "user_logs/attempt_2/std_log.txt": b"second",
    }


def test_the_next_attempt_forgets_where_the_former_one_was(store: Store, id: str) -> None:
    with store.database.write() as connection:
        runs.set_handle(connection, id, {"pid": 1})
        attempts.meet(connection, id, 1, "10.0.0.1:4000")
        assert attempts.meeting(connection, id, 1) == "10.0.0.1:4000"
        attempts.ask(connection, id, "taken away")
        attempts.begin_next(connection, id)
        assert runs.handle(connection, id) is None
        assert attempts.meeting(connection, id, 2) is None
        run = runs.get(connection, id)
    assert (run.attempt, run.restart, run.nodes) == (2, None, 2)


def test_nodes_that_their_run_has_left_behind_are_told(store: Store, id: str) -> None:
    with store.database.write() as connection:
        with pytest.raises(Conflict, match="attempt 1"):
            attempts.meeting(connection, id, 2)
        attempts.ask(connection, id, "preempted on purpose")
        attempts.meet(connection, id, 1, "h:1")  # it has not ended yet
        runs.record_state(connection, id, states.QUEUED, "attempt 2 follows")
        with pytest.raises(Conflict, match="attempt 2"):
            attempts.meet(connection, id, 1, "h:1")
        runs.record_state(connection, id, states.CANCELED, "cancelled")
        with pytest.raises(Conflict, match="Canceled"):
            attempts.meeting(connection, id, 1)


def test_how_often_a_run_may_start_again_is_in_its_launch(store: Store, id: str) -> None:
    with store.database.write() as connection:
        assert attempts.most(connection, id) == 5
        runs.create(connection, NewRun("run-2", "local", "e", launch={"command": "true"}))
        assert attempts.most(connection, "run-2") == 3
