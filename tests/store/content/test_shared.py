"""If these fail, a run reads the code of another workspace, or cannot fetch its own."""

from __future__ import annotations

from collections.abc import Callable

from runyard.contracts.manifest import Entry, make
from runyard.store.assets import environments
from runyard.store.content import shared, snapshots, wheels
from runyard.store.runs import workspaces
from runyard.store.runs.records import Run
from runyard.store.store import Store

MakeRun = Callable[..., Run]


def snapshot(store: Store, content: bytes) -> tuple[str, str]:
    stored = store.objects.put([content])
    manifest = make([Entry("a", digest=stored.digest, size=stored.size)])
    with store.database.write() as connection:
        snapshots.create(connection, manifest)
    return manifest.id, stored.digest


def test_content_belongs_to_the_workspaces_whose_rows_need_it(store: Store, make_run: MakeRun) -> None:
    with store.database.write() as connection:
        workspaces.create(connection, "other", "subscription", "group")
    code, code_object = snapshot(store, b"code")
    folder, folder_object = snapshot(store, b"build context")
    unused, unused_object = snapshot(store, b"never run")
    wheel = store.objects.put([b"wheel"])
    make_run("r", snapshot_id=code)
    with store.database.write() as connection:
        definition = {"name": "e", "docker": {"buildContext": {"location": f"runyard://snapshots/{folder}"}}}
        environments.register(connection, "local", definition)
        wheels.put(connection, "local", "mine-1.0-py3-none-any.whl", wheel)
    everything = {code_object, folder_object, unused_object, wheel.digest}
    with store.database.read() as connection:
        assert [shared.has_snapshot(connection, "local", id) for id in (code, folder, unused)] == [True, True, False]
        assert not any(shared.has_snapshot(connection, "other", id) for id in (code, folder, unused))
        assert shared.held(connection, "local", everything) == everything - {unused_object}
        assert shared.held(connection, "other", everything) == set()


def test_the_build_context_of_a_run_belongs_to_its_workspace(store: Store, make_run: MakeRun) -> None:
    folder, folder_object = snapshot(store, b"build context")
    make_run("r", launch={"environment": {"context": f"runyard://snapshots/{folder}"}})
    with store.database.read() as connection:
        assert shared.has_snapshot(connection, "local", folder)
        assert shared.held(connection, "local", [folder_object]) == {folder_object}
