"""Saved views: one per name, of their own workspace, and no more than a list can show."""

from __future__ import annotations

import pytest

from runyard.store.database import Database
from runyard.store.errors import NotFound, Refused
from runyard.store.runs import saved_views, workspaces


def test_a_view_is_saved_replaced_and_deleted(database: Database) -> None:
    with database.write() as connection:
        workspaces.ensure_default(connection)
        saved_views.put(connection, "local", "mine", "q=a")
        saved_views.put(connection, "local", "best", "sort=-acc")
        saved_views.put(connection, "local", "mine", "q=b")
        assert [(each.name, each.query) for each in saved_views.find(connection, "local")] == [
            ("best", "sort=-acc"),
            ("mine", "q=b"),
        ]
        saved_views.remove(connection, "local", "mine")
        with pytest.raises(NotFound):
            saved_views.remove(connection, "local", "mine")
        with pytest.raises(NotFound):
            saved_views.find(connection, "nosuch")


@pytest.mark.parametrize(("name", "query"), [("", "q"), ("x" * 101, "q"), ("x", "q" * 8001)])
def test_what_is_no_view(database: Database, name: str, query: str) -> None:
    with database.write() as connection:
        workspaces.ensure_default(connection)
        with pytest.raises(Refused):
            saved_views.put(connection, "local", name, query)
