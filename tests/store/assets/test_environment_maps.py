"""If these fail, a run gets another environment than its operator meant."""

from __future__ import annotations

from typing import Any

import pytest

from runyard.store.assets import environment_maps
from runyard.store.assets.environment_maps import EnvironmentMap
from runyard.store.content import deletion
from runyard.store.errors import NotFound, Refused
from runyard.store.runs import workspaces
from runyard.store.store import Store


def put(store: Store, pattern: str, interpreter: str | None = None, definition: Any = None) -> None:
    with store.database.write() as connection:
        environment_maps.put(connection, "local", pattern, interpreter, definition)


def used(store: Store, name: str) -> EnvironmentMap | None:
    with store.database.read() as connection:
        return environment_maps.look_up(connection, "local", name)


def test_an_exact_name_wins_over_patterns_and_longer_patterns_over_shorter(store: Store) -> None:
    for pattern in ("*", "AzureML-*", "AzureML-PyTorch-*", "AzureML-A", "?zureML-Tensor*", "[x]"):
        put(store, pattern, f"/{pattern}")
    found = {name: used(store, name) for name in ("AzureML-A", "AzureML-PyTorch-1.6-GPU", "AzureML-B", "mine", "[x]")}
    assert {name: each and each.pattern for name, each in found.items()} == {
        "AzureML-A": "AzureML-A",
        "AzureML-PyTorch-1.6-GPU": "AzureML-PyTorch-*",
        "AzureML-B": "AzureML-*",
        "mine": "*",
        "[x]": "[x]",
    }
    with store.database.read() as connection:
        assert environment_maps.find(connection, "local")[0].pattern == "AzureML-A"


def test_a_pattern_is_mapped_to_one_thing_and_can_be_mapped_anew(store: Store) -> None:
    put(store, "a*", "/usr/bin/python3")
    put(store, "a*", definition={"name": "b"})
    assert used(store, "abc") == EnvironmentMap("a*", None, {"name": "b"})
    assert used(store, "ABC") is None
    with store.database.write() as connection:
        environment_maps.remove(connection, "local", "a*")
        with pytest.raises(NotFound, match="'a\\*' is not mapped"):
            environment_maps.remove(connection, "local", "a*")
    assert used(store, "abc") is None


@pytest.mark.parametrize(
    ("pattern", "interpreter", "definition"),
    [
        ("", "/p", None),
        ("x" * 256, "/p", None),
        ("a", None, None),
        ("a", "/p", {}),
        ("a", "", None),
        ("a", "venv/bin/python", None),
        ("a", "~/venv/bin/python", None),
    ],
)
def test_what_cannot_be_meant_is_refused(store: Store, pattern: str, interpreter: Any, definition: Any) -> None:
    with pytest.raises(Refused):
        put(store, pattern, interpreter, definition)


def test_maps_belong_to_a_workspace_and_go_with_it(store: Store) -> None:
    with store.database.write() as connection:
        workspaces.create(connection, "other", "s", "g")
        environment_maps.put(connection, "other", "*", "/p")
    assert used(store, "mine") is None
    deletion.delete_workspace(store, "other")
    with store.database.write() as connection:
        workspaces.create(connection, "other", "s", "g")
        assert environment_maps.find(connection, "other") == []
