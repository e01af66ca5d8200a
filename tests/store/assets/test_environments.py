"""If these fail, a registered environment changes under its users, or is not found again."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import func, select

from runyard.store import tables
from runyard.store.assets import environments
from runyard.store.assets.environments import Environment
from runyard.store.content import deletion
from runyard.store.errors import Conflict, NotFound, Refused
from runyard.store.runs import workspaces
from runyard.store.store import Store


def definition(name: str = "mine", *packages: str, version: str | None = None) -> dict[str, Any]:
    dependencies = {"dependencies": [{"pip": list(packages)}]}
    return {"name": name, "version": version, "python": {"condaDependencies": dependencies}}


def register(store: Store, *told: str, workspace: str = "local", version: str | None = None) -> Environment:
    with store.database.write() as connection:
        return environments.register(connection, workspace, definition(*told, version=version))


def get(store: Store, name: str, version: str | None = None, label: str | None = None) -> Environment:
    with store.database.read() as connection:
        return environments.get(connection, "local", name, version, label)


def test_versions_count_up_with_the_content(store: Store) -> None:
    made = [register(store, "mine", package).version for package in ("numpy", "numpy", "scipy", "numpy", "torch")]
    assert made == ["1", "1", "2", "1", "3"]
    latest = get(store, "mine")
    assert latest.version == latest.definition["version"] == "3"
    assert latest.definition["python"] == definition("mine", "torch")["python"]
    assert get(store, "mine", "1").definition["name"] == "mine"


def test_each_name_counts_by_itself(store: Store) -> None:
    assert register(store, "one", "numpy").version == register(store, "two", "numpy").version == "1"


def test_a_version_that_is_asked_for_is_used_as_it_is(store: Store) -> None:
    assert register(store, "mine", "numpy", version="7").version == "7"
    assert register(store, "mine", "numpy", version="7").version == "7"
    assert register(store, "mine", "numpy", version="2026.1").version == "2026.1"
    assert register(store, "mine", "scipy").version == "8"
    by_number = {**definition("mine", "pandas"), "version": 9}
    with store.database.write() as connection:
        assert environments.register(connection, "local", by_number).definition["version"] == "9"
    with pytest.raises(Conflict) as caught:
        register(store, "mine", "torch", version="7")
    assert caught.value.code == "environment_exists"


def test_a_label_points_at_one_version_and_moves(store: Store) -> None:
    register(store, "mine", "numpy")
    register(store, "mine", "scipy")
    with store.database.write() as connection:
        assert environments.label(connection, "local", "mine", "1", ["prod", "old"]).labels == ["old", "prod"]
        assert environments.label(connection, "local", "mine", "2", ["prod", "prod"]).labels == ["prod"]
    assert get(store, "mine", label="prod").version == "2"
    assert get(store, "mine", label="old").version == "1"
    assert get(store, "mine", "1").labels == ["old"]
    with pytest.raises(NotFound, match="label 'test'"):
        get(store, "mine", label="test")


def test_lists_hold_the_latest_of_each_name_and_all_versions_of_one(store: Store) -> None:
    for name, package in (("b", "numpy"), ("a", "numpy"), ("b", "scipy")):
        register(store, name, package)
    with store.database.read() as connection:
        assert [(row.name, row.version) for row in environments.latest(connection, "local")] == [("a", "1"), ("b", "2")]
        assert [row.version for row in environments.versions(connection, "local", "b")] == ["2", "1"]


def test_what_is_not_there_is_said_with_what_is(store: Store) -> None:
    register(store, "my-environment", "numpy")
    with pytest.raises(NotFound, match="my-environment") as caught:
        get(store, "my-enviroment")
    assert caught.value.code == "environment_not_found"
    with pytest.raises(NotFound, match="It has: 1"):
        get(store, "my-environment", "2")
    with store.database.read() as connection, pytest.raises(NotFound):
        environments.versions(connection, "local", "other")
    with store.database.write() as connection, pytest.raises(NotFound):
        environments.label(connection, "local", "my-environment", "9", ["x"])


@pytest.mark.parametrize("name", ["", None, 3, "a/b", "..", " a", "a ", "x" * 256, "a\0b", "a\nb", "-a"])
def test_a_name_that_no_address_can_hold_is_refused(store: Store, name: Any) -> None:
    with store.database.write() as connection, pytest.raises(Refused) as caught:
        environments.register(connection, "local", {"name": name})
    assert caught.value.code == "bad_name"


@pytest.mark.parametrize("name", ["AzureML x", "keras-tf 2.0 (mine)", "Ü", "_a", "x" * 255])
def test_names_are_as_free_as_in_the_sdk(store: Store, name: str) -> None:
    assert register(store, name, "numpy").name == name


@pytest.mark.parametrize("version", [True, 1.5, -1, "a b", "../1", "x" * 256])
def test_a_version_is_a_short_text(store: Store, version: Any) -> None:
    with pytest.raises(Refused):
        register(store, "mine", version=version)


def test_environments_belong_to_a_workspace_and_go_with_it(store: Store) -> None:
    with store.database.write() as connection:
        workspaces.create(connection, "other", "s", "g")
    register(store, "mine", "numpy")
    assert register(store, "mine", "scipy", workspace="other").version == "1"
    with store.database.write() as connection:
        environments.label(connection, "other", "mine", "1", ["prod"])
    deletion.delete_workspace(store, "other")
    with store.database.read() as connection:
        assert connection.scalar(select(func.count()).select_from(tables.environments)) == 1
        assert connection.scalar(select(func.count()).select_from(tables.environment_labels)) == 0
