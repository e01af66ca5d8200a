from __future__ import annotations

import pytest

from runyard.store.errors import Conflict, NotFound, Refused
from runyard.store.runs import experiments, workspaces
from runyard.store.store import Store


def test_an_experiment_is_made_once_per_workspace(store: Store) -> None:
    with store.database.write() as connection:
        workspaces.create(connection, "other", "s", "g")
        first = experiments.ensure(connection, "local", "mnist")
        assert experiments.ensure(connection, "local", "mnist") == first
        assert experiments.ensure(connection, "other", "mnist").id != first.id
        assert experiments.get(connection, first.id) == first
    assert (first.workspace, first.name, first.tags, first.archived_at) == ("local", "mnist", {}, None)


def test_a_list_shows_the_newest_first(store: Store) -> None:
    with store.database.write() as connection:
        for name in ("a", "b", "c"):
            experiments.ensure(connection, "local", name)
        assert [row.name for row in experiments.find(connection, "local")] == ["c", "b", "a"]
        assert [row.name for row in experiments.find(connection, "local", name="b")] == ["b"]


def test_views_tell_the_archived_from_the_others(store: Store) -> None:
    with store.database.write() as connection:
        old = experiments.ensure(connection, "local", "old")
        experiments.ensure(connection, "local", "new")
        archived = experiments.update(connection, old.id, archived=True)
        assert archived.archived_at is not None
        assert experiments.update(connection, old.id, archived=True) == archived
        names = {
            view: [row.name for row in experiments.find(connection, "local", view)]
            for view in ("ActiveOnly", "ArchivedOnly", "All")
        }
        assert names == {"ActiveOnly": ["new"], "ArchivedOnly": ["old"], "All": ["new", "old"]}
        assert experiments.update(connection, old.id, archived=False).archived_at is None
        with pytest.raises(Refused):
            experiments.find(connection, "local", "Some")


def test_tags_are_set_removed_and_searched(store: Store) -> None:
    with store.database.write() as connection:
        id = experiments.ensure(connection, "local", "mnist").id
        experiments.ensure(connection, "local", "other")
        experiments.update(connection, id, set_tags={"a": "1", "b": None, "c": "3"})
        row = experiments.update(connection, id, set_tags={"a": "2"}, remove_tags=["c", "never"])
        assert row.tags == {"a": "2", "b": None}

        def found(*tags: tuple[str, str | None]) -> list[str]:
            return [row.name for row in experiments.find(connection, "local", tags=tags)]

        assert found(("a", "2"), ("b", None)) == ["mnist"]
        assert found(("a", "1")) == []
        assert found(("b", "x")) == []


def test_a_new_name_must_be_free_and_good(store: Store) -> None:
    with store.database.write() as connection:
        id = experiments.ensure(connection, "local", "mnist").id
        experiments.ensure(connection, "local", "taken")
        with pytest.raises(Conflict) as caught:
            experiments.update(connection, id, name="taken")
        assert caught.value.code == "experiment_exists"
        with pytest.raises(Refused, match="no name for an experiment"):
            experiments.update(connection, id, name="a b")
        assert experiments.update(connection, id, name="digits").name == "digits"
        assert experiments.update(connection, id, name="digits").name == "digits"


def test_what_is_not_there_is_told(store: Store) -> None:
    with store.database.write() as connection:
        with pytest.raises(NotFound, match="no experiment 'x'"):
            experiments.get(connection, "x")
        with pytest.raises(NotFound, match="no workspace 'x'"):
            experiments.ensure(connection, "x", "mnist")
        with pytest.raises(NotFound, match="no workspace 'x'"):
            experiments.find(connection, "x")
