"""The places of a request: each datastore is looked up once, and by its name whatever the case."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from runyard.server.data.opening import places
from runyard.store.assets import datastores
from runyard.store.content.secrets import Secrets
from runyard.store.errors import NotFound
from runyard.store.runs import workspaces
from runyard.store.store import Store


def test_a_datastore_is_opened_once(home: Path, tmp_path: Path, migrated_sqlite: Path) -> None:
    shutil.copy(migrated_sqlite, home / "runyard.db")
    store = Store.open(home, None)
    with store.database.write() as connection:
        workspaces.ensure_default(connection)
    with store.database.write() as connection:
        datastores.register(connection, "local", "mine", "folder", {"path": str(tmp_path)}, {})
    settings = SimpleNamespace(home=tmp_path)
    context: Any = SimpleNamespace(store=store, settings=settings, secrets=Secrets(tmp_path, "secret"))
    place_of = places(cast(Any, context), "local")
    assert place_of("mine") is place_of("mine")
    assert place_of("MINE").local("x") == str(tmp_path / "x")
    with pytest.raises(NotFound):
        place_of("other")
    store.close()
