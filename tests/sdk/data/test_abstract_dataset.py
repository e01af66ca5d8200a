"""Datasets by name: what was registered is found again, in the version that was asked for."""

from __future__ import annotations

import copy
import json
import uuid

import pytest

from runyard.sdk.data.abstract_dataset import AbstractDataset
from runyard.sdk.data.dataset import Dataset
from runyard.sdk.exceptions import UserErrorException
from runyard.sdk.workspace.workspace import Workspace


def test_registering_finding_tagging_and_unregistering(workspace: Workspace) -> None:
    name = f"images-{uuid.uuid4().hex[:8]}"
    unsaved = Dataset.File.from_files("http://h.example/a.gz")
    assert (unsaved.id, unsaved.name, unsaved.version, unsaved.tags) == (None, None, None, None)
    assert isinstance(unsaved.update(description="x"), UserErrorException)
    assert isinstance(unsaved.add_tags({"a": "1"}), UserErrorException)
    first = unsaved.register(workspace, name, "digits", {"a": "1"})
    assert (first.name, first.version, first.description, first.tags) == (name, 1, "digits", {"a": "1"})
    with pytest.raises(UserErrorException, match="create_new_version=True"):
        unsaved.register(workspace, name)
    second = Dataset.File.from_files("http://h.example/b.gz").register(workspace, name, create_new_version=True)
    assert Dataset.get_by_name(workspace, name).id == second.id
    for version in (1, "1"):
        assert Dataset.get_by_name(workspace, name, version).id == first.id
    for wrong in ("one", 7, 0):
        with pytest.raises(UserErrorException):
            Dataset.get_by_name(workspace, name, wrong)
    assert Dataset.get_by_id(workspace, str(first.id)).name == name
    assert workspace.datasets[name].version == 2
    assert name in Dataset.get_all(workspace)
    with pytest.raises(KeyError):
        workspace.datasets["nowhere"]
    first.add_tags({"b": "2"})
    first.add_tags({"b": "2"})
    with pytest.raises(UserErrorException, match="'b'"):
        first.add_tags({"b": "3"})
    first.remove_tags(["a"])
    assert Dataset.get_by_name(workspace, name, 1).tags == {"b": "2"}
    assert copy.deepcopy(first) is first
    first.unregister_all_versions()
    assert (first.name, first.id) == (None, None)
    with pytest.raises(UserErrorException, match="no dataset"):
        Dataset.get_by_name(workspace, name)


def test_how_it_is_printed(workspace: Workspace) -> None:
    unsaved = Dataset.File.from_files("http://h.example/a.gz").take(1)
    assert json.loads(repr(unsaved)) == {"source": ["http://h.example/a.gz"], "definition": ["GetFiles", "Take"]}
    assert str(unsaved) == f"FileDataset\n{unsaved!r}"
    made = unsaved.register(workspace, f"printed-{uuid.uuid4().hex[:8]}")
    assert json.loads(repr(made))["registration"]["version"] == 1
    made.add_tags({"<b>": "bold"})
    html = made._repr_html_()
    assert f"<td>{made.name}</td><td>1</td><td>http://h.example/a.gz</td><td>Take</td>" in html
    assert "&lt;b&gt;: bold" in html
    assert "<b>" not in html


def test_the_factories_are_members_as_in_sdk_v1() -> None:
    made = AbstractDataset.File.from_files("http://h/a")
    assert AbstractDataset.File is Dataset.File
    assert AbstractDataset.Tabular is Dataset.Tabular
    with pytest.raises(UserErrorException, match="There is: none"):
        made.get_partition_key_values()
