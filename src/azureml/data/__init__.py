"""azureml.data: paths, references and file datasets."""

from typing import TYPE_CHECKING

from runyard.sdk.sdk_v1 import late_names

if TYPE_CHECKING:
    from runyard.sdk.data.file_dataset import FileDataset

__all__ = ["FileDataset"]

__getattr__ = late_names(
    __name__,
    {"FileDataset": "runyard.sdk.data.file_dataset"},
    not_yet=("DataType", "OutputFileDatasetConfig", "TabularDataset"),
)
