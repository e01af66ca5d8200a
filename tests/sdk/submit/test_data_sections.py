"""Data in a run configuration that is saved: who loads the file reads the same data, and writes to the same place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from azureml.data import OutputFileDatasetConfig
from runyard.sdk.data.data_reference import DataReference
from runyard.sdk.data.dataset import Dataset
from runyard.sdk.exceptions import UserErrorException
from runyard.sdk.submit.inputs import inputs_of
from runyard.sdk.submit.outputs import outputs_of
from runyard.sdk.submit.runconfig import RunConfiguration
from runyard.sdk.workspace.workspace import Workspace


def test_data_in_a_file_is_the_data_that_was_given(workspace: Workspace, tmp_path: Path) -> None:
    store = workspace.get_default_datastore()
    given = Dataset.File.from_files((store, "birds/**"))
    other = Dataset.File.from_files("http://h.example/a")
    output = OutputFileDatasetConfig("out", (store, "to/{run-id}")).register_on_complete("birds")
    reference = DataReference(store, "ref", "a/b", "download")
    run_config = RunConfiguration("train.py")
    sections: tuple[Any, ...] = (run_config.data, run_config.output_data, run_config.data_references)
    sections[0]["birds"] = given.as_named_input("birds").as_mount("/data")
    sections[1]["out"] = output
    sections[2]["ref"] = reference
    arguments: list[Any] = ["--more", other.as_named_input("more").as_download(), "--to", output, reference]
    run_config.arguments = arguments
    run_config.save(tmp_path, "train")
    assert list(run_config.data) == ["birds"], "what is saved is not changed"
    loaded = RunConfiguration.load(tmp_path, "train")
    names = ("DatasetConsumptionConfig:more", "DatasetOutputConfig:out", "$AZUREML_DATAREFERENCE_ref")
    assert loaded.arguments == ["--more", names[0], "--to", names[1], names[2]]
    found = {
        each["name"]: (each["dataset"], each["mode"], each["path_on_compute"]) for each in inputs_of(loaded, workspace)
    }
    assert found["birds"] == (given.id, "mount", "/data")
    assert found["more"] == (other.id, "download", None)
    assert found["ref"][1] == "download"
    [written] = outputs_of(loaded)
    assert (written["datastore"], written["path"]) == (store.name, "to/{run-id}")
    assert written["registration"]["name"] == "birds"


def test_what_no_file_can_name_is_refused(tmp_path: Path) -> None:
    run_config = RunConfiguration("train.py")
    sections: Any = run_config.data
    sections["given"] = OutputFileDatasetConfig("out").as_input("given")
    with pytest.raises(UserErrorException, match=r"'given' is what a run writes.*register_on_complete"):
        run_config.save(tmp_path, "train")
    assert not (tmp_path / ".azureml" / "train").exists()
