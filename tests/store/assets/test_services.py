"""Services in the store: what a killed server needs to go on is there, and what is used is not removed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from runyard.contracts.services import states
from runyard.contracts.services.settings import Settings
from runyard.store.assets import services
from runyard.store.assets.services import NewRevision, NewService, Service
from runyard.store.errors import Conflict
from runyard.store.runs.records import SERVICE, Run
from runyard.store.store import Store

MakeRun = Callable[..., Run]


def made(store: Store, name: str = "mine") -> Service:
    with store.database.write() as connection:
        new = NewService("local", name, "aci", Settings(), 4000, {"primary": "x"}, {"a": "b"}, {}, None, None)
        row = services.create(connection, new)
        services.add_version(connection, row, "", 2, 100.0, True, False)
        revision = NewRevision("", [], {"entry_script": "score.py"}, Settings(workers=2), None, "deployed")
        assert services.add_revision(connection, row, revision) == 1
        return services.get(connection, "local", name)


def test_a_service_its_revisions_and_its_replicas(store: Store, make_run: MakeRun) -> None:
    row = made(store)
    assert (row.state, row.operation["state"], row.tags) == ("Transitioning", "Running", {"a": "b"})
    [version] = row.versions
    assert (version.current, version.wanted, version.replicas, version.is_default) == (None, 1, 2, True)
    make_run("replica", kind=SERVICE)
    with store.database.write() as connection:
        services.add_replica(connection, row, "replica", "", 1)
        services.set_replica(connection, "replica", states.READY, {"pid": 7})
        services.set_version(connection, row, "", current=1)
        services.set_revision(connection, row, 1, states.CURRENT)
        services.add_revision(connection, row, NewRevision("", [], {}, Settings(), None, "again"))
        assert services.service_of_run(connection, "replica") == row.id
        row = services.get(connection, "local", "mine")
        newest, oldest = services.revisions(connection, row)
        [replica] = services.replicas(connection, row)
    assert (newest.number, oldest.state, oldest.settings.workers) == (2, states.CURRENT, 2)
    assert (replica.run_id, replica.ready, replica.seen, replica.revision) == ("replica", True, {"pid": 7}, 1)
    assert services.in_use(row) == {1, 2}
    with store.database.write() as connection:
        services.remove(connection, row)
        assert services.look_up(connection, "local", "mine") is None


def test_a_name_is_there_once_and_one_version_is_the_default(store: Store) -> None:
    row = made(store)
    with pytest.raises(Conflict, match="already"):
        made(store)
    with store.database.write() as connection:
        services.add_version(connection, row, "green", 1, 30.0, True, True)
        row = services.get(connection, "local", "mine")
    assert {each.name: (each.is_default, each.is_control) for each in row.versions} == {
        "": (False, False),
        "green": (True, True),
    }
    with store.database.read() as connection:
        assert services.ports(connection) == {4000: "mine"}


def test_steps_are_told_once() -> None:
    operation = services.begun("create")
    operation = services.with_step(services.with_step(operation, "a"), "a")
    assert [step["text"] for step in operation["steps"]] == ["Accepted", "a"]
