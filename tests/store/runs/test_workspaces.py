from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from runyard.store.errors import Conflict, NotFound, Refused
from runyard.store.runs import workspaces
from runyard.store.store import Store


def test_the_local_workspace_is_made_once(store: Store) -> None:
    with store.database.write() as connection:
        again = workspaces.ensure_default(connection)
        assert workspaces.find(connection) == [again]
    assert (again.name, again.resource_group, again.location) == ("local", "local", "local")
    assert again.subscription_id == "00000000-0000-0000-0000-000000000000"


def test_what_was_told_is_read_back(store: Store) -> None:
    before = datetime.now(timezone.utc)
    with store.database.write() as connection:
        made = workspaces.create(
            connection, "vision", "sub", "group", "west", "Vision", "für \0 \ud800 alle", {"team": "a", "empty": None}
        )
    with store.database.read() as connection:
        assert workspaces.get(connection, "vision") == made
    assert (made.subscription_id, made.resource_group, made.location) == ("sub", "group", "west")
    assert made.tags == {"team": "a", "empty": None}
    assert made.description == "für \ufffd \ufffd alle"  # neither database can hold the other two
    assert before - timedelta(seconds=1) < made.created_at <= datetime.now(timezone.utc)


def test_a_name_is_taken_once(store: Store) -> None:
    with store.database.write() as connection:
        first = workspaces.create(connection, "vision", "sub", "group")
        with pytest.raises(Conflict) as caught:
            workspaces.create(connection, "vision", "other", "group")
        assert caught.value.code == "workspace_exists"
        assert workspaces.create(connection, "vision", "other", "group", exist_ok=True) == first


def test_a_bad_name_is_refused(store: Store) -> None:
    with store.database.write() as connection, pytest.raises(Refused) as caught:
        workspaces.create(connection, "no spaces", "sub", "group")
    assert caught.value.code == "bad_name"


def test_only_what_is_told_is_changed(store: Store) -> None:
    with store.database.write() as connection:
        workspaces.create(connection, "vision", "sub", "group", friendly_name="Vision", tags={"a": "1"})
        changed = workspaces.update(connection, "vision", description="all of it")
    assert (changed.friendly_name, changed.description, changed.tags) == ("Vision", "all of it", {"a": "1"})


@pytest.mark.parametrize("name", ["nowhere", "with\0nul", "half \ud800 pair"])
def test_one_that_is_not_there_is_told(store: Store, name: str) -> None:
    with store.database.write() as connection:
        for ask in (workspaces.get, workspaces.serial, workspaces.update):
            with pytest.raises(NotFound) as caught:
                ask(connection, name)
            assert caught.value.code == "workspace_not_found"
