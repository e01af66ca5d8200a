"""What a run has written becomes one dataset per output, once, however often its end is told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from runyard.contracts import states
from runyard.store.assets import datasets, run_outputs
from runyard.store.assets.run_outputs import Written
from runyard.store.content import deletion
from runyard.store.runs.records import Run
from runyard.store.store import Store

MakeRun = Callable[..., Run]
LAUNCH: dict[str, Any] = {
    "script": "train.py",
    "outputs": [
        {"name": "plain", "path": "out/{run-id}"},
        {"name": "prepared", "registration": {"name": "birds", "description": "all", "tags": {"a": "b"}}},
    ],
}


def keep(store: Store, complete: bool) -> list[Written]:
    with store.database.write() as connection:
        return run_outputs.keep(connection, "r", complete)


def test_outputs_become_datasets_once(store: Store, make_run: MakeRun) -> None:
    make_run("r", launch=LAUNCH)
    plain, prepared = keep(store, complete=True)
    assert (plain.name, plain.complete, plain.registered) == ("plain", True, None)
    assert (prepared.registered, prepared.version) == ("birds", 1)
    assert keep(store, complete=True) == keep(store, complete=False) == [plain, prepared]
    with store.database.read() as connection:
        found = datasets.by_name(connection, "local", "birds")
        assert found.id == prepared.dataset
        assert found.definition["sources"] == [{"datastore": "workspaceblobstore", "path": "dataset/r/prepared"}]
        assert found.tags == {"a": "b"}
        assert len(datasets.versions(connection, "local", "birds")) == 1


def test_what_a_failed_run_has_written_is_kept_without_a_name(store: Store, make_run: MakeRun) -> None:
    make_run("r", launch=LAUNCH)
    partial = keep(store, complete=False)
    assert [(each.complete, each.registered) for each in partial] == [(False, None)] * 2
    again = keep(store, complete=True)
    assert [each.dataset for each in again] == [each.dataset for each in partial]
    assert again[1].registered == "birds", "the next attempt has ended well"


def test_a_run_without_outputs_has_written_nothing_and_deleted_ones_leave_the_dataset(
    store: Store, make_run: MakeRun
) -> None:
    make_run("other")
    with store.database.write() as connection:
        assert run_outputs.keep(connection, "other", True) == []
    make_run("r", launch=LAUNCH, status=states.COMPLETED)
    keep(store, complete=True)
    deletion.delete_runs(store, ["r"])
    with store.database.read() as connection:
        assert datasets.by_name(connection, "local", "birds").version == 1
