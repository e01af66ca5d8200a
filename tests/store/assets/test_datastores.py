"""Datastores in the database: found by name, replaced only when asked to, and the workspace's own always there."""

from __future__ import annotations

import pytest

from runyard.store.assets import datasets, datastores
from runyard.store.errors import Conflict, NotFound, Refused
from runyard.store.store import Store


def test_a_workspace_has_its_own_and_one_default(store: Store) -> None:
    with store.database.write() as connection:
        names = [each.name for each in datastores.find(connection, "local")]
        assert names == ["workspaceblobstore", "workspacefilestore"]
        assert datastores.default(connection, "local").name == "workspaceblobstore"
        datastores.register(connection, "local", "Mine", "folder", {"path": "/data"}, {})
        assert datastores.set_default(connection, "local", "MINE").default
        assert datastores.default(connection, "local").name == "mine"
        datastores.unregister(connection, "local", "mine")
        assert datastores.default(connection, "local").name == "workspaceblobstore", "never one that is gone"
        datastores.set_default(connection, "local", "workspacefilestore")
        assert [each.name for each in datastores.find(connection, "local") if each.default] == ["workspacefilestore"]
        for name in names:
            with pytest.raises(Refused, match="stays with it"):
                datastores.unregister(connection, "local", name)
            with pytest.raises(Conflict):
                datastores.register(connection, "local", name, "folder", {"path": "/data"}, {}, overwrite=True)


def test_a_name_is_taken_until_it_is_overwritten(store: Store) -> None:
    with store.database.write() as connection:
        first = datastores.register(connection, "local", "a", "s3", {"bucket": "b"}, {"secret_access_key": "NAME"})
        assert first.secrets == {"secret_access_key": "NAME"}
        with pytest.raises(Conflict, match="overwrite=True"):
            datastores.register(connection, "local", "a", "folder", {"path": "/data"}, {})
        assert datastores.get(connection, "local", "a") == first
        second = datastores.register(connection, "local", "a", "folder", {"path": "/data"}, {}, overwrite=True)
        assert (second.kind, second.secrets) == ("folder", {})
        with pytest.raises(NotFound, match="workspaceblobstore"):
            datastores.get(connection, "local", "workspaceblobstor")


def test_who_removes_one_learns_which_datasets_name_it(store: Store) -> None:
    with store.database.write() as connection:
        datastores.register(connection, "local", "a", "folder", {"path": "/data"}, {})
        definition = {"kind": "file", "sources": [{"datastore": "A", "path": "x"}], "steps": []}
        made = datasets.save(connection, "local", definition)
        datasets.register(connection, "local", made.id, "images")
        assert datastores.unregister(connection, "local", "a") == ["images"]
