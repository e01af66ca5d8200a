"""`Dataset`: where datasets are made and found.

from azureml.core import Dataset

dataset = Dataset.File.from_files(["https://example.org/a.gz"]).register(ws, "images")
dataset = Dataset.get_by_name(ws, "images")
"""

from __future__ import annotations

from runyard.sdk.data.abstract_dataset import AbstractDataset
from runyard.sdk.data.dataset_factory import FileDatasetFactory
from runyard.sdk.data.old_dataset import OldDataset
from runyard.sdk.tables.tabular_factory import TabularDatasetFactory


class Dataset(OldDataset):
    """Making and finding datasets."""

    File = FileDatasetFactory
    Tabular = TabularDatasetFactory

    get_by_name = staticmethod(AbstractDataset.get_by_name)
    get_by_id = staticmethod(AbstractDataset.get_by_id)
    get_all = staticmethod(AbstractDataset.get_all)
