"""azureml.data: paths, references and datasets."""

from typing import TYPE_CHECKING

from runyard.sdk.sdk_v1 import late_names

if TYPE_CHECKING:
    from runyard.sdk.data.file_dataset import FileDataset
    from runyard.sdk.data.output_dataset_config import OutputFileDatasetConfig
    from runyard.sdk.tables.data_type import DataType
    from runyard.sdk.tables.tabular_dataset import TabularDataset

__all__ = ["DataType", "FileDataset", "OutputFileDatasetConfig", "TabularDataset"]

__getattr__ = late_names(
    __name__,
    {
        "DataType": "runyard.sdk.tables.data_type",
        "FileDataset": "runyard.sdk.data.file_dataset",
        "OutputFileDatasetConfig": "runyard.sdk.data.output_dataset_config",
        "TabularDataset": "runyard.sdk.tables.tabular_dataset",
    },
)
