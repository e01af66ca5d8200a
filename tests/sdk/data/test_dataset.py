"""`Dataset` offers what scripts call on it."""

from __future__ import annotations

from azureml.core import Dataset
from azureml.core.dataset import Dataset as SameDataset
from azureml.data import FileDataset
from azureml.data.dataset_factory import FileDatasetFactory


def test_the_import_paths_of_sdk_v1_lead_to_one_class() -> None:
    assert Dataset is SameDataset
    assert Dataset.File is FileDatasetFactory
    assert isinstance(Dataset.File.from_files("http://h/a"), FileDataset)
