"""A table that a run writes: its files are read as was said before the run, whoever asks for the dataset."""

from __future__ import annotations

import pytest

from azureml.data import OutputFileDatasetConfig
from azureml.data.output_dataset_config import OutputTabularDatasetConfig
from runyard.contracts.data import datasets
from runyard.contracts.data.outputs import Output
from runyard.sdk.submit.outputs import outputs_of
from runyard.sdk.submit.runconfig import RunConfiguration


def test_what_was_said_of_the_files_reaches_the_dataset() -> None:
    files = OutputFileDatasetConfig("rows", ("store", "out"))
    table = files.read_delimited_files(separator=";", path_glob="**/*.csv").keep_columns("a").drop_columns(["b"])
    table = table.register_on_complete("rows-of-mine").as_upload()
    run_config = RunConfiguration("train.py")
    run_config.output_data = {"rows": table.to_config()}
    (found,) = outputs_of(run_config)
    made = Output.from_dict(found).dataset("r_1")
    assert datasets.parse(made).kind == "tabular"
    assert made["sources"] == [{"datastore": "store", "path": "out/**/*.csv"}]
    assert made["read"]["separator"] == ";"
    assert [each["step"] for each in made["steps"]] == ["keep", "drop"]
    assert found["registration"]["name"] == "rows-of-mine"


def test_splits_have_names_of_their_own_and_are_complementary() -> None:
    table = OutputFileDatasetConfig("rows").read_parquet_files()
    first, second = table.random_split(0.8, seed=3)
    assert (first.name, second.name, table.name) == ("rows_1", "rows_2", "rows")
    steps = [each.as_output().dataset("r")["steps"][0] for each in (first, second)]
    assert steps == [{**steps[0]}, {**steps[0], "rest": True}]
    assert table.as_input().mode == "direct"


def test_it_is_not_made_by_hand() -> None:
    with pytest.raises(ValueError, match="read_delimited_files"):
        OutputTabularDatasetConfig()
