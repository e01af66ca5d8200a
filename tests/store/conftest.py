from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from runyard.store.database import Database
from runyard.store.runs import runs, workspaces
from runyard.store.runs.records import NewRun, Run
from runyard.store.store import Store


@pytest.fixture
def store(home: Path, database_url: str) -> Iterator[Store]:
    """A fresh store with the local workspace, on either kind of database."""
    store = Store.open(home, database_url)
    with store.database.write() as connection:
        workspaces.ensure_default(connection)
    yield store
    store.close()


@pytest.fixture
def make_run(store: Store) -> Callable[..., Run]:
    """Makes runs in the store of the test; what is not told is of no matter."""
    numbers = count(1)

    def make(id: str | None = None, **told: Any) -> Run:
        new = NewRun(**{"id": id or f"run-{next(numbers)}", "workspace": "local", "experiment": "exp", **told})
        with store.database.write() as connection:
            return runs.create(connection, new)

    return make


@pytest.fixture
def database(store: Store) -> Database:
    """The database of `store`."""
    return store.database
