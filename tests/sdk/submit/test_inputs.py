"""Inputs of a run: named by id in its launch, and refused before anything is sent when they cannot be."""

from __future__ import annotations

import uuid
from typing import Any, cast

import pytest

from runyard.sdk.data.configuration import Data
from runyard.sdk.data.data_reference import DataReference
from runyard.sdk.data.dataset import Dataset
from runyard.sdk.data.dataset_consumption import DatasetConsumptionConfig
from runyard.sdk.exceptions import UserErrorException
from runyard.sdk.submit.inputs import inputs_of
from runyard.sdk.submit.runconfig import RunConfiguration
from runyard.sdk.submit.script_run_config import ScriptRunConfig, get_run_config_from_script_run
from runyard.sdk.workspace.workspace import Workspace


def test_datasets_are_saved_or_looked_up(workspace: Workspace) -> None:
    name = f"birds-{uuid.uuid4().hex[:8]}"
    unsaved = Dataset.File.from_files("http://h.example/a")
    registered = Dataset.File.from_files("http://h.example/b").register(workspace, name)
    by_name = DatasetConsumptionConfig("named", (workspace, name), "download", "/data")
    config = ScriptRunConfig(".", "train.py", [unsaved.as_named_input("one").as_mount(), by_name])
    data: dict[str, Any] = config.run_config.data
    data["direct"] = registered.as_named_input("direct")
    run_config = get_run_config_from_script_run(config)
    found = {each["name"]: each for each in inputs_of(run_config, workspace)}
    assert found["one"] == {"name": "one", "dataset": unsaved.id, "mode": "mount", "path_on_compute": None}
    assert found["named"]["dataset"] == found["direct"]["dataset"] == registered.id
    assert (found["named"]["path_on_compute"], found["direct"]["mode"]) == ("/data", "direct")
    assert run_config.to_dict()["data"]["one"]["dataLocation"]["dataset"]["id"] == unsaved.id


def test_a_command_gets_the_variable() -> None:
    given = Dataset.File.from_files("http://h.example/a").as_named_input("one").as_mount()
    made = get_run_config_from_script_run(ScriptRunConfig(".", command=cast("Any", ["ls", given])))
    assert made.command == 'ls "$AZUREML_DATAREFERENCE_one"'
    assert "one" in made.data


def test_a_path_in_a_datastore_is_a_dataset_without_a_name(workspace: Workspace) -> None:
    run_config = RunConfiguration("train.py")
    run_config.data = {"old": Data.create(DataReference("workspaceblobstore", "old", "a/b", "download"))}
    reference = DataReference("workspaceblobstore", "0ld", "a/b")
    run_config.data_references = {"0ld": reference.to_config(), "up": reference.as_upload().to_config()}
    found = inputs_of(run_config, workspace)
    assert [(each["name"], each["mode"]) for each in found] == [("old", "download"), ("0ld", "mount")]
    assert found[0]["dataset"] == found[1]["dataset"]
    made = Dataset.get_by_id(workspace, found[0]["dataset"])
    assert made.name is None
    assert "('workspaceblobstore', 'a/b')" in str(made)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("a text", "must be a dataset"),
        (DatasetConsumptionConfig("x", ("ws", "b"), "hdfs"), "does not do inputs as 'hdfs'"),
        (Data(), "neither a dataset nor a path"),
        (DatasetConsumptionConfig("x", ("ws", "nowhere-at-all"), "mount"), "no dataset 'nowhere-at-all'"),
    ],
)
def test_what_cannot_be_an_input_is_refused(workspace: Workspace, given: Any, words: str) -> None:
    run_config = RunConfiguration("train.py")
    run_config.data = {"x": given}
    with pytest.raises(UserErrorException, match=words):
        inputs_of(run_config, workspace)
