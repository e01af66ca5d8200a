"""If these fail, an image cannot be built any more because the folder that it is built from was swept away."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from runyard.contracts import states
from runyard.contracts.manifest import Entry, make
from runyard.store.assets import environment_maps, environments
from runyard.store.content import build_contexts, deletion, snapshots, sweeping
from runyard.store.content.deletion import Freed
from runyard.store.content.sweeping import Swept
from runyard.store.errors import NotFound
from runyard.store.runs import runs, workspaces
from runyard.store.runs.records import Run
from runyard.store.store import Store

MakeRun = Callable[..., Run]


def snapshot(store: Store, content: bytes) -> str:
    stored = store.objects.put([content])
    manifest = make([Entry("Dockerfile", digest=stored.digest, size=stored.size)])
    with store.database.write() as connection:
        snapshots.create(connection, manifest)
    return manifest.id


def definition(id: str) -> dict[str, Any]:
    return {"name": "mine", "docker": {"buildContext": {"location": f"runyard://snapshots/{id}"}}}


def launch(id: str) -> dict[str, Any]:
    return {"command": "true", "environment": {"context": f"runyard://snapshots/{id}"}}


def test_a_snapshot_stays_as_long_as_something_is_built_from_it(store: Store, make_run: MakeRun) -> None:
    registered, mapped, run, unused = (snapshot(store, name) for name in (b"environment", b"map", b"run", b"unused"))
    make_run("r", launch=launch(run))
    with store.database.write() as connection:
        workspaces.create(connection, "other", "s", "g")
        environments.register(connection, "other", definition(registered))
        environment_maps.put(connection, "other", "*", definition=definition(mapped))
        runs.record_state(connection, "r", states.COMPLETED, "completed")
        assert runs.context(connection, "r") == run
    assert sweeping.sweep(store, timedelta(0)) == Swept(files_aside=1, bytes_aside=len(b"unused"))
    with store.database.read() as connection:
        assert not snapshots.has(connection, unused)
        assert all(snapshots.has(connection, id) for id in (registered, mapped, run))
    assert deletion.delete_workspace(store, "other") == Freed(objects=2, bytes_freed=len(b"environmentmap"))
    assert deletion.delete_runs(store, ["r"]).bytes_freed == len(b"run")
    assert list(store.objects.walk()) == []


def test_a_snapshot_in_two_uses_outlives_the_first(store: Store, make_run: MakeRun) -> None:
    id = snapshot(store, b"both")
    make_run("r", launch=launch(id), snapshot_id=id, status=states.COMPLETED)
    with store.database.write() as connection:
        environments.register(connection, "local", definition(id))
    assert deletion.delete_runs(store, ["r"]) == Freed(runs=1)
    with store.database.read() as connection:
        assert snapshots.has(connection, id)


def test_a_snapshot_that_is_not_there_cannot_be_named(store: Store, make_run: MakeRun) -> None:
    with store.database.write() as connection, pytest.raises(NotFound) as caught:
        environments.register(connection, "local", definition("0" * 64))
    assert caught.value.code == "snapshot_not_found"
    with pytest.raises(NotFound):
        make_run("r", launch=launch("0" * 64))


def test_other_addresses_are_for_others(store: Store) -> None:
    with store.database.read() as connection:
        for location in (None, "", "https://github.com/a/b#main", f"runyard://wheels/{'0' * 64}"):
            assert build_contexts.named(connection, location) is None
