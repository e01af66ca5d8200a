"""The names of secrets in the database: what was set last counts, and a file that is not used any more is named."""

from __future__ import annotations

import pytest

from runyard.store.assets import vault
from runyard.store.errors import NotFound, Refused
from runyard.store.store import Store


def test_set_replaced_and_removed(store: Store) -> None:
    with store.database.write() as connection:
        assert vault.put(connection, "local", "b", "key-1", "") is None
        assert vault.put(connection, "local", "a", "key-2", "text") is None
        assert vault.put(connection, "local", "b", "key-3", "") == "key-1"
        assert [(each.name, each.key) for each in vault.find(connection, "local")] == [("a", "key-2"), ("b", "key-3")]
        assert vault.remove(connection, "local", "a").key == "key-2"
        with pytest.raises(NotFound):
            vault.get(connection, "local", "a")


@pytest.mark.parametrize(
    ("name", "value"), [("", "x"), ("a/b", "x"), ("ü", "x"), ("a" * 128, "x"), ("a", ""), ("a", "x" * 25_001)]
)
def test_names_and_values_that_cannot_be(name: str, value: str) -> None:
    with pytest.raises(Refused):
        vault.check(name, value)
