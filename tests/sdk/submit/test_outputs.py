"""Outputs of a run: what its launch says of them, from arguments, commands, configurations and data references."""

from __future__ import annotations

from typing import Any, cast

import pytest

from runyard.sdk.data.configuration import OutputData
from runyard.sdk.data.data_reference import DataReference
from runyard.sdk.data.output_dataset_config import OutputFileDatasetConfig
from runyard.sdk.exceptions import UserErrorException
from runyard.sdk.submit.outputs import outputs_of
from runyard.sdk.submit.runconfig import RunConfiguration
from runyard.sdk.submit.script_run_config import ScriptRunConfig, get_run_config_from_script_run


def test_an_argument_becomes_an_output() -> None:
    output = OutputFileDatasetConfig("prepared").as_upload(source_globs="*.csv").register_on_complete("birds")
    config = ScriptRunConfig(".", "train.py", ["--out", output])
    made = get_run_config_from_script_run(config)
    assert made.arguments == ["--out", "DatasetOutputConfig:prepared"]
    (found,) = outputs_of(made)
    assert found == {
        "name": "prepared",
        "datastore": "workspaceblobstore",
        "path": "dataset/{run-id}/{output-name}",
        "mode": "upload",
        "path_on_compute": None,
        "overwrite": False,
        "globs": ["*.csv"],
        "registration": {"name": "birds", "description": None, "tags": {}},
        "definition": None,
    }


def test_a_command_gets_the_variable() -> None:
    output = OutputFileDatasetConfig("prepared")
    made = get_run_config_from_script_run(ScriptRunConfig(".", command=cast("Any", ["cp", "-r", "x", output])))
    assert made.command == 'cp -r x "$AZUREML_DATAREFERENCE_prepared"'
    assert outputs_of(made)[0]["overwrite"], "what is delivered while it is written is written over"


def test_a_reference_that_is_uploaded_is_an_output() -> None:
    reference = DataReference("store", "made", "out/here").as_upload("result")
    run_config = RunConfiguration("train.py")
    run_config.data_references = {"made": reference.to_config()}
    (found,) = outputs_of(run_config)
    wanted = ("store", "out/here", "upload", "result")
    assert (found["datastore"], found["path"], found["mode"], found["path_on_compute"]) == wanted


@pytest.mark.parametrize(
    ("given", "words"),
    [("a text", "must be an OutputFileDatasetConfig"), (OutputData(mechanism="hdfs"), "outputs as 'hdfs'")],
)
def test_what_cannot_be_an_output_is_refused(given: Any, words: str) -> None:
    run_config = RunConfiguration("train.py")
    run_config.output_data = {"x": given}
    with pytest.raises(UserErrorException, match=words):
        outputs_of(run_config)
