"""Outputs as SDK v1's scripts write them: copies, defaults, and refusals."""

from __future__ import annotations

import pytest

from azureml.data import OutputFileDatasetConfig
from azureml.data.output_dataset_config import UploadOptions
from runyard.sdk.exceptions import UserErrorException


def test_names_modes_and_copies() -> None:
    plain = OutputFileDatasetConfig()
    assert plain.name.startswith("output_")
    assert plain.mode == "mount"
    named = OutputFileDatasetConfig("prepared", source="data")
    uploaded = named.as_upload(overwrite=True, source_globs="*.csv").register_on_complete("birds", "all", {"a": "b"})
    assert (named.mode, uploaded.mode, uploaded.name) == ("mount", "upload", "prepared")
    assert uploaded.arg_val == "DatasetOutputConfig:prepared"
    assert uploaded.as_mount().upload_options is None
    assert UploadOptions(source_globs=["a", "b"]).source_globs == ["a", "b"]


def test_the_section_of_a_run_configuration() -> None:
    output = OutputFileDatasetConfig("prepared", ("store", "out/{run-id}"), "data")
    document = output.as_upload(True, ["*.csv"]).register_on_complete("birds").to_config().to_dict()
    assert document["mechanism"] == "upload"
    assert document["outputLocation"]["dataPath"] == {"datastoreName": "store", "relativePath": "out/{run-id}"}
    options = document["additionalOptions"]
    assert options["pathOnCompute"] == "data"
    assert options["registrationOptions"]["name"] == "birds"
    assert options["uploadOptions"] == {"overwrite": True, "sourceGlobs": {"patterns": ["*.csv"]}}


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(UserErrorException, match="no name for an input"):
        OutputFileDatasetConfig("a b")
    with pytest.raises(TypeError, match="tuple of a datastore and a path"):
        OutputFileDatasetConfig("a", destination="store").to_config()  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="not empty"):
        OutputFileDatasetConfig("a").register_on_complete("")
    with pytest.raises(UserErrorException, match="submit it first"):
        OutputFileDatasetConfig("a").written_by()


def test_as_an_input_it_has_a_name_and_is_mounted() -> None:
    given = OutputFileDatasetConfig("a").as_input()
    assert given.name.startswith("input_")
    assert given.mode == "mount"
    assert OutputFileDatasetConfig("a").as_input("b").name == "b"
