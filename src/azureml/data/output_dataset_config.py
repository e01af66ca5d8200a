"""azureml.data.output_dataset_config, from `runyard.sdk.data.output_dataset_config`."""

from runyard.sdk.data.output_dataset_config import (
    MountOptions,
    OutputFileDatasetConfig,
    RegistrationConfiguration,
    TransformationMixin,
    UploadOptions,
)
from runyard.sdk.tables.output_table import OutputTabularDatasetConfig

__all__ = [
    "MountOptions",
    "OutputFileDatasetConfig",
    "OutputTabularDatasetConfig",
    "RegistrationConfiguration",
    "TransformationMixin",
    "UploadOptions",
]
