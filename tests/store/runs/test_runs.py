from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta, timezone

import pytest

from runyard.contracts import states
from runyard.contracts.manifest import make
from runyard.store.content import snapshots
from runyard.store.errors import Conflict, NotFound, Refused
from runyard.store.runs import runs
from runyard.store.runs.records import NewRun, Run
from runyard.store.store import Store

MakeRun = Callable[..., Run]
NOON = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=timezone.utc)


def test_what_was_told_is_read_back(store: Store) -> None:
    manifest = make([])
    new = NewRun(
        id="mnist_1_ab",
        workspace="local",
        experiment="mnist",
        status=states.QUEUED,
        reason="waits for a place",
        type="azureml.scriptrun",
        name="n",
        display_name="brave ü",
        description="x" * 10_000,
        tags={"k": "v", "empty": None, "long" * 1000: "v" * 10_000},
        properties={"azureml.git.commit": "abc", "none": None},
        target="gpu",
        submitted_by="ann",
        snapshot_id=manifest.id,
        definition={"script": "train.py", "big": 2**80, "text": "\0\ud800"},
        launch={"script": "train.py", "arguments": ["--lr", "0.1"]},
    )
    with store.database.write() as connection:
        snapshots.create(connection, manifest)
        made = runs.create(connection, new)
    with store.database.read() as connection:
        assert runs.get(connection, new.id) == made
        assert runs.definition_and_launch(connection, new.id) == (new.definition, new.launch)
        history = runs.states(connection, new.id)
    same = ["id", "workspace", "experiment", "status", "reason", "kind", "type", "name", "display_name", "description"]
    same += ["tags", "properties", "target", "submitted_by", "snapshot_id", "parent_id"]
    assert {name: getattr(made, name) for name in same} == {name: getattr(new, name) for name in same}
    assert (made.number, made.root_id, made.started_at, made.ended_at) == (1, new.id, None, None)
    assert (made.error, made.warnings) == (None, [])
    assert [(change.status, change.reason) for change in history] == [("Queued", "waits for a place")]
    assert history[0].at == made.created_at


def test_numbers_count_up_per_experiment_and_are_not_given_twice(store: Store, make_run: MakeRun) -> None:
    assert [make_run(experiment="a").number for _ in range(3)] == [1, 2, 3]
    assert make_run(experiment="b").number == 1

    def fail() -> None:
        with store.database.write() as connection:
            runs.create(connection, NewRun("undone", "local", "a"))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert make_run(experiment="a").number == 4


def test_an_id_is_taken_once_on_a_server(store: Store, make_run: MakeRun) -> None:
    make_run("mine", experiment="a")
    with pytest.raises(Conflict) as caught:
        make_run("mine", experiment="b")
    assert caught.value.code == "run_exists"


def test_bad_requests_are_refused(make_run: MakeRun, store: Store) -> None:
    with pytest.raises(Refused, match="no name for a run"):
        make_run("../x")
    with pytest.raises(Refused, match="too long"):
        make_run(type="t" * 256)
    with pytest.raises(NotFound) as caught:
        make_run(snapshot_id="0" * 64)
    assert caught.value.code == "snapshot_not_found"
    with pytest.raises(NotFound) as caught:
        make_run(parent_id="nobody")
    assert caught.value.code == "run_not_found"


def test_a_run_that_begins_running_has_started(make_run: MakeRun, store: Store) -> None:
    run = make_run(kind="interactive", status=states.RUNNING)
    assert run.started_at == run.created_at
    assert run.led
    assert not make_run().led


def test_states_are_kept_in_order_with_start_and_end(store: Store, make_run: MakeRun) -> None:
    id = make_run().id
    with store.database.write() as connection:
        runs.record_state(connection, id, states.QUEUED, "waits for 2 nodes", NOON)
        running = runs.record_state(connection, id, states.RUNNING, "started", NOON + timedelta(seconds=1))
        runs.record_state(connection, id, states.NOT_RESPONDING, "silent", NOON + timedelta(seconds=2))
        runs.record_state(connection, id, states.RUNNING, "heard again", NOON + timedelta(seconds=3))
        ended = runs.record_state(connection, id, states.COMPLETED, "completed", NOON + timedelta(seconds=4))
        history = runs.states(connection, id)
    assert running.started_at == ended.started_at == NOON + timedelta(seconds=1)
    assert ended.ended_at == NOON + timedelta(seconds=4)
    assert (ended.status, ended.reason) == ("Completed", "completed")
    assert [change.status for change in history] == [
        "NotStarted", "Queued", "Running", "NotResponding", "Running", "Completed",
    ]  # fmt: skip
    assert history[1].at == NOON
    assert history[1].reason == "waits for 2 nodes"


def test_a_late_report_sets_start_and_end_to_when_it_happened(store: Store, make_run: MakeRun) -> None:
    id = make_run().id
    late = NOON + timedelta(hours=1)
    with store.database.write() as connection:
        runs.record_state(connection, id, states.RUNNING, "started", late, happened_at=NOON)
        ended = runs.record_state(connection, id, states.COMPLETED, "", late, happened_at=NOON + timedelta(seconds=9))
        history = runs.states(connection, id)
    assert (ended.started_at, ended.ended_at) == (NOON, NOON + timedelta(seconds=9))
    assert [change.at for change in history[1:]] == [late, late]


def test_an_end_without_an_error_clears_a_former_one(store: Store, make_run: MakeRun) -> None:
    id = make_run().id
    error = {"code": "NodeRunnerLost", "message": "gone", "exit": {"code": None, "signal": 9, "words": "killed"}}
    warning = {"source": "outputs", "message": "a file changed while it was read"}
    with store.database.write() as connection:
        failed = runs.record_state(connection, id, states.FAILED, "gone", error=error, warnings=[warning])
        assert (failed.error, failed.warnings) == (error, [warning])
        again = runs.record_state(connection, id, states.COMPLETED, "completed", warnings=[warning])
        assert (again.error, again.warnings) == (None, [warning])


def test_labels_are_changed(store: Store, make_run: MakeRun) -> None:
    id = make_run(tags={"a": "1", "b": "2"}, properties={"fixed": "1"}).id
    with store.database.write() as connection:
        run = runs.update(
            connection, id, set_tags={"a": "9", "c": None}, remove_tags=["b"], add_properties={"new": "2", "fixed": "1"}
        )
        assert run.tags == {"a": "9", "c": None}
        assert run.properties == {"fixed": "1", "new": "2"}
        run = runs.update(connection, id, display_name="d", description="e", name="f")
        assert (run.display_name, run.description, run.name) == ("d", "e", "f")
        assert run.tags == {"a": "9", "c": None}
        with pytest.raises(Conflict) as caught:
            runs.update(connection, id, add_properties={"other": "x", "fixed": "2"})
        assert caught.value.code == "property_fixed"
        assert runs.get(connection, id).properties == {"fixed": "1", "new": "2"}


def test_the_family_of_a_run(store: Store, make_run: MakeRun) -> None:
    make_run("root", experiment="a")
    child = make_run("child", parent_id="root", experiment="elsewhere")
    make_run("grandchild", parent_id="child")
    make_run("second", parent_id="root")
    make_run("stranger")
    assert (child.experiment, child.number, child.root_id) == ("a", 2, "root")
    with store.database.read() as connection:
        assert runs.descendants(connection, "root") == ["child", "grandchild", "second"]
        assert runs.descendants(connection, "child") == ["grandchild"]
        assert runs.descendants(connection, "nobody") == []
        assert runs.ancestors(connection, "grandchild") == ["grandchild", "child", "root"]
        assert runs.ancestors(connection, "nobody") == []


def test_what_goes_on_is_told_oldest_first(store: Store, make_run: MakeRun) -> None:
    for status in (states.QUEUED, states.COMPLETED, states.FINALIZING, states.CANCELED, states.CANCEL_REQUESTED):
        make_run(status, status=status)
    with store.database.read() as connection:
        assert [run.id for run in runs.active(connection)] == ["Queued", "Finalizing", "CancelRequested"]
        assert runs.counts_by_status(connection)["Completed"] == 1


def test_the_handle_of_the_engine_is_kept(store: Store, make_run: MakeRun) -> None:
    id = make_run().id
    with store.database.write() as connection:
        assert runs.handle(connection, id) is None
        runs.set_handle(connection, id, {"pid": 12, "started": 1.5})
        assert runs.handle(connection, id) == {"pid": 12, "started": 1.5}
        runs.set_handle(connection, id, None)
        assert runs.handle(connection, id) is None


def test_a_run_that_is_not_there_is_told(store: Store) -> None:
    with store.database.write() as connection:
        for ask in (runs.get, runs.states, runs.handle, runs.definition_and_launch, runs.update, runs.serial_of):
            with pytest.raises(NotFound) as caught:
                ask(connection, "nobody\0")
            assert caught.value.code == "run_not_found"
        with pytest.raises(NotFound):
            runs.record_state(connection, "nobody", states.QUEUED, "")
