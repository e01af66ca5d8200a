"""Datasets in the database: what the routes do not show of names, versions and limits."""

from __future__ import annotations

from typing import Any

import pytest

from runyard.store.assets import datasets
from runyard.store.errors import Conflict, NotFound, Refused
from runyard.store.store import Store

DEFINITION: dict[str, Any] = {"kind": "file", "sources": [{"url": "http://h/a"}], "steps": []}


def test_versions_count_from_one_and_begin_anew_after_unregistering(store: Store) -> None:
    with store.database.write() as connection:
        made = datasets.save(connection, "local", DEFINITION)
        for number in (1, 2):
            row = datasets.register(connection, "local", made.id, "mnist", create_new_version=True)
            assert row.version == number
        with pytest.raises(Conflict):
            datasets.register(connection, "local", made.id, "mnist")
        assert datasets.unregister(connection, "local", "mnist") == 2
        assert datasets.register(connection, "local", made.id, "mnist").version == 1
        assert datasets.get(connection, "local", made.id).name == "mnist"


def test_wrong_definitions_names_and_texts_are_refused(store: Store) -> None:
    with store.database.write() as connection:
        with pytest.raises(Refused):
            datasets.save(connection, "local", {"kind": "tabular"})
        made = datasets.save(connection, "local", DEFINITION)
        with pytest.raises(Refused):
            datasets.register(connection, "local", made.id, "a/b")
        with pytest.raises(Refused):
            datasets.register(connection, "local", made.id, "a", description="x" * 10_001)
        with pytest.raises(NotFound):
            datasets.unregister(connection, "local", "a")
