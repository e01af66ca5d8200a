"""What users write about a model is checked before anything is sent, and says what would do."""

from __future__ import annotations

from typing import Any

import pytest

from runyard.sdk.data.file_dataset import FileDataset
from runyard.sdk.exceptions import UserErrorException, WebserviceException
from runyard.sdk.model import arguments
from runyard.sdk.submit.resource_configuration import ResourceConfiguration
from runyard.sdk.workspace.workspace import Workspace


def test_labels_are_texts_by_name() -> None:
    assert arguments.labels("tags", None) == {}
    assert arguments.labels("tags", {"a": "1", "accuracy": 0.5}) == {"a": "1", "accuracy": "0.5"}
    with pytest.raises(WebserviceException, match="tags of a model must be a dict"):
        arguments.labels("tags", [("a", "1")])


def test_a_framework_is_known_however_it_is_written() -> None:
    assert [arguments.framework(each) for each in ("pytorch", "ONNX", "Own", None)] == ["PyTorch", "Onnx", "Own", None]


def test_labels_to_look_for_are_keys_or_pairs() -> None:
    assert arguments.wanted_labels("tags", None) == []
    assert arguments.wanted_labels("tags", ["a", ["b", "1"], ("c", 2)]) == ["a", "b=1", "c=2"]
    wrong: list[Any] = ["a", {"a": "1"}, [["a", "b", "c"]], [1]]
    for each in wrong:
        with pytest.raises(UserErrorException):
            arguments.wanted_labels("tags", each)


def test_versions_are_whole_numbers_from_one() -> None:
    assert (arguments.version_number(None), arguments.version_number(3), arguments.version_number("3")) == (None, 3, 3)
    for wrong in (0, -1, True, 1.5, "", "x", "1" * 100_000):
        with pytest.raises(WebserviceException, match="whole number") as error:
            arguments.version_number(wrong)
        assert len(error.value.message) < 1000


def test_resources_are_a_resource_configuration() -> None:
    assert arguments.resources(None) is None
    needed = {"cpu": 1, "memory_in_gb": 0.5, "gpu": None}
    assert arguments.resources(ResourceConfiguration(cpu=1, memory_in_gb=0.5)) == needed
    with pytest.raises(WebserviceException, match="must be a ResourceConfiguration"):
        arguments.resources({"cpu": 1})


def test_a_dataset_that_was_not_saved_is(workspace: Workspace) -> None:
    made = FileDataset({"kind": "file", "sources": [{"url": "http://h/x"}], "steps": []})
    assert made.id is None
    (reference,) = arguments.dataset_references(workspace, [("training", made)])
    assert reference == {"name": "training", "id": made.id}
    with pytest.raises(WebserviceException, match="names datasets"):
        arguments.dataset_id(workspace, 5)
