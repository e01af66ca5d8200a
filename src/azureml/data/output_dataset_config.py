"""azureml.data.output_dataset_config, from `runyard.sdk.data.output_dataset_config`."""

from runyard.sdk.data.output_dataset_config import (
    MountOptions,
    OutputFileDatasetConfig,
    RegistrationConfiguration,
    UploadOptions,
)

__all__ = ["MountOptions", "OutputFileDatasetConfig", "RegistrationConfiguration", "UploadOptions"]
