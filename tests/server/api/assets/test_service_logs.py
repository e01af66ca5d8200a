"""The log of a service: that of each replica, the newest last, and the cause where a replica could write none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from runyard.contracts.services import states
from runyard.contracts.services.settings import Settings
from runyard.scheduler.states import Fact
from runyard.scheduler.transitions import Transitions
from runyard.server.api.assets import service_logs
from runyard.store.assets import services
from runyard.store.assets.services import NewRevision, NewService, Service
from runyard.store.content import files
from runyard.store.runs import runs, workspaces
from runyard.store.runs.records import SERVICE, NewRun
from runyard.store.store import Store


@pytest.fixture
def store(home: Path) -> Iterator[Store]:
    store = Store.open(home)
    with store.database.write() as connection:
        workspaces.ensure_default(connection)
    yield store
    store.close()


@pytest.fixture
def service(store: Store) -> Service:
    with store.database.write() as connection:
        row = services.create(connection, NewService("local", "mine", "aci", Settings(), 4000, {}, {}, {}, None, None))
        services.add_version(connection, row, "", 1, 100.0, True, False)
        for _ in range(2):
            services.add_revision(connection, row, NewRevision("", [], {}, Settings(), None, "deployed"))
        return services.get(connection, "local", "mine")


def add(store: Store, service: Service, run_id: str, revision: int, seen: Any = None, **logs: str) -> None:
    """A replica that has written some logs; `std_log` is that of its script."""
    folders = {"std_log": "user_logs/std_log.txt", "environment": "system_logs/environment.log"}
    with store.database.write() as connection:
        runs.create(connection, NewRun(id=run_id, workspace="local", experiment="exp", kind=SERVICE))
        services.add_replica(connection, service, run_id, "", revision)
        services.set_replica(connection, run_id, states.STARTING, seen or {})
    for name, text in logs.items():
        stored = store.objects.put([text.encode()])
        with store.database.write() as connection:
            files.put(connection, run_id, folders[name], stored)


def test_the_last_lines_of_all_replicas_or_of_one_revision(store: Store, service: Service) -> None:
    add(store, service, "old", 1, std_log="a\nb\n", environment="built\n")
    assert service_logs.text(store, service, 10) == "a\nb\n", "one replica needs no heading"
    add(store, service, "new", 2, std_log="c\nd\n")
    assert service_logs.text(store, service, 10).splitlines() == [
        *("--- old (revision 1, starting)", "a", "b", "--- new (revision 2, starting)", "c", "d")
    ]
    assert service_logs.text(store, service, 1) == "d\n"
    assert service_logs.text(store, service, 10, revision=1) == "a\nb\n"
    assert service_logs.text(store, service, 10, revision=3) == ""
    assert service_logs.text(store, service, 10, revision=1, init=True) == "built\n"


def test_a_replica_that_wrote_nothing_is_shown_with_its_cause(store: Store, service: Service) -> None:
    error = {"message": "KeyError: 'gone'\nin line 2", "help": "Mend it."}
    add(store, service, "silent", 1, {"error": error})
    assert service_logs.text(store, service, 10) == "KeyError: 'gone'\nin line 2\nMend it.\n"
    add(store, service, "loud", 2, {"error": error}, std_log="KeyError: 'gone'\n")
    assert service_logs.text(store, service, 10, revision=2) == "KeyError: 'gone'\n", "it is there already"


def test_only_replicas_that_live_are_asked_for_their_newest_lines(store: Store, service: Service) -> None:
    add(store, service, "over", 1)
    add(store, service, "lives", 1)
    Transitions(store, lambda run: False).apply("over", Fact("ended", outcome="completed"))
    found, live = service_logs.live_replicas(store, "local", "mine")
    assert (found.id, live) == (service.id, ["lives"])
