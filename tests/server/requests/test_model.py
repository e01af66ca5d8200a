"""Requests about models: what is not named stays, what is named twice or not at all is refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from runyard.server.middleware.problems import Problem
from runyard.server.requests import model
from runyard.server.requests.model import ModelChange, ModelRequest
from runyard.store.assets import model_content, models
from runyard.store.assets.models import Details
from runyard.store.content import files
from runyard.store.runs import runs, workspaces
from runyard.store.runs.records import NewRun
from runyard.store.store import Store


@pytest.fixture
def store(home: Path) -> Iterator[Store]:
    """A store with a run that has a file, and a model of it."""
    store = Store.open(home)
    stored = store.objects.put([b"1"])
    with store.database.write() as connection:
        workspaces.ensure_default(connection)
        runs.create(connection, NewRun(id="r", workspace="local", experiment="exp"))
        files.put(connection, "r", "a", stored)
    with store.database.write() as connection:
        content = model_content.of_run(connection, "r", "a")
        details = Details(tags={"a": "1"}, description="d", resource_configuration={"cpu": 1})
        models.register(connection, "local", "m", content, details, "r")
    yield store
    store.close()


def request(**told: Any) -> ModelRequest:
    return ModelRequest.model_validate({"name": "m", **told})


def test_a_change_leaves_what_it_does_not_name(store: Store) -> None:
    with store.database.write() as connection:
        changed = model.change(connection, "local", "m", None, ModelChange(set_tags={"b": "2"})).details
        assert (changed.tags, changed.description) == ({"a": "1", "b": "2"}, "d")
        assert changed.resource_configuration == {"cpu": 1}
        emptied = model.change(connection, "local", "m", 1, ModelChange(tags={}, description=None)).details
        assert (emptied.tags, emptied.description) == ({}, None)


def test_the_origin_is_the_run_that_was_named_or_that_asks(store: Store) -> None:
    with store.database.write() as connection:
        tree = models.get(connection, "local", "m").content.tree
        asked = request(snapshot_id=tree)
        assert model.register(connection, "local", asked, None).run_id is None
        assert model.register(connection, "local", asked, "r").run_id == "r"
        assert model.register(connection, "local", request(run_id="r", path="a"), None).experiment == "exp"


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"path": "a"},
        {"run_id": "r"},
        {"run_id": "r", "path": "a", "snapshot_id": "0" * 64},
        {"run_id": "r", "path": "a", "framework_version": "1"},
    ],
)
def test_files_are_named_in_one_way(store: Store, body: dict[str, Any]) -> None:
    with store.database.write() as connection, pytest.raises(Problem) as refusal:
        model.register(connection, "local", request(**body), None)
    assert refusal.value.code == "bad_model"


@pytest.mark.parametrize("needed", [{"cpu": 0}, {"memory_in_gb": -1}, {"gpu": -1}, {"cores": 1}, {"cpu": float("nan")}])
def test_resources_are_amounts(needed: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        request(resource_configuration=needed)
