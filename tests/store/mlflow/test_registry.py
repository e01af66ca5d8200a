"""The registry: names, tags and aliases of models, and what a name may not be."""

from __future__ import annotations

import pytest

from runyard.store.errors import Conflict, NotFound, Refused
from runyard.store.mlflow import registry
from runyard.store.store import Store


def test_names_tags_and_aliases(store: Store) -> None:
    with store.database.write() as connection:
        registry.create(connection, "local", "m", "said", {"a": "1"})
        with pytest.raises(Conflict):
            registry.create(connection, "local", "m", None, {})
        for wrong in ("", "a/b", "..", "x" * 300):
            with pytest.raises(Refused):
                registry.create(connection, "local", wrong, None, {})
        changed = registry.change(connection, "local", "m", None, {"b": "2"}, "a")
        assert (changed.description, changed.tags) == ("said", {"b": "2"})
        registry.set_alias(connection, "local", "m", "champion", 1)
        registry.set_alias(connection, "local", "m", "champion", 2)
        assert registry.version_of(connection, "local", "m", "champion") == 2
        for wrong in ("", "v1", "V12", "latest", "x" * 256):
            with pytest.raises(Refused):
                registry.set_alias(connection, "local", "m", wrong, 1)
        renamed = registry.rename(connection, "local", "m", "n")
        assert (renamed.name, renamed.aliases) == ("n", {"champion": 2})
        registry.remove_alias(connection, "local", "n", "champion")
        with pytest.raises(NotFound):
            registry.version_of(connection, "local", "n", "champion")
        registry.remove(connection, "local", "n")
        assert registry.find(connection, "local") == []
        with pytest.raises(NotFound):
            registry.get(connection, "local", "n")
        assert registry.origins(connection, [1, 2]) == {}
