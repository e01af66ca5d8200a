"""azureml.data: paths, references and file datasets."""

from typing import TYPE_CHECKING

from runyard.sdk.sdk_v1 import late_names

if TYPE_CHECKING:
    from runyard.sdk.data.file_dataset import FileDataset
    from runyard.sdk.data.output_dataset_config import OutputFileDatasetConfig

__all__ = ["FileDataset", "OutputFileDatasetConfig"]

__getattr__ = late_names(
    __name__,
    {
        "FileDataset": "runyard.sdk.data.file_dataset",
        "OutputFileDatasetConfig": "runyard.sdk.data.output_dataset_config",
    },
    not_yet=("DataType", "TabularDataset"),
)
