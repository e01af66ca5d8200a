"""azureml.core.runconfig, from `runyard.sdk`. AzureContainerRegistry, Cr, DockerEnvironment, ... are old names."""

from runyard.sdk.compute_target import AbstractComputeTarget
from runyard.sdk.conda_dependencies import CondaDependencies
from runyard.sdk.container_registry import ContainerRegistry
from runyard.sdk.container_registry import ContainerRegistry as AzureContainerRegistry
from runyard.sdk.container_registry import ContainerRegistry as Cr
from runyard.sdk.data_configuration import (
    Data,
    DataLocation,
    DataPath,
    DataReferenceConfiguration,
    Dataset,
    DatasetRegistrationOptions,
    GlobsOptions,
    MountOptions,
    OutputData,
    OutputOptions,
    RegistrationOptions,
    UploadOptions,
)
from runyard.sdk.dataset_consumption import DatasetConsumptionConfig
from runyard.sdk.distributed import (
    MpiConfiguration,
    ParallelTaskConfiguration,
    PyTorchConfiguration,
    TensorflowConfiguration,
)
from runyard.sdk.environment import Environment, EnvironmentDefinition
from runyard.sdk.environment_sections import DEFAULT_CPU_IMAGE, DEFAULT_GPU_IMAGE, DockerSection, PythonSection
from runyard.sdk.environment_sections import DockerSection as DockerEnvironment
from runyard.sdk.environment_sections import PythonSection as PythonEnvironment
from runyard.sdk.exceptions import RunConfigurationException, UserErrorException
from runyard.sdk.runconfig import (
    AmlComputeConfiguration,
    DockerConfiguration,
    HdiConfiguration,
    HistoryConfiguration,
    KubernetesComputeConfiguration,
    RunConfiguration,
    SparkConfiguration,
)
from runyard.sdk.sdk_v1 import late_names

__all__ = [
    "DEFAULT_CPU_IMAGE",
    "DEFAULT_GPU_IMAGE",
    "AbstractComputeTarget",
    "AmlComputeConfiguration",
    "AzureContainerRegistry",
    "CondaDependencies",
    "ContainerRegistry",
    "Cr",
    "Data",
    "DataLocation",
    "DataPath",
    "DataReferenceConfiguration",
    "Dataset",
    "DatasetConsumptionConfig",
    "DatasetRegistrationOptions",
    "DockerConfiguration",
    "DockerEnvironment",
    "DockerSection",
    "Environment",
    "EnvironmentDefinition",
    "GlobsOptions",
    "HdiConfiguration",
    "HistoryConfiguration",
    "KubernetesComputeConfiguration",
    "MountOptions",
    "MpiConfiguration",
    "OutputData",
    "OutputOptions",
    "ParallelTaskConfiguration",
    "PyTorchConfiguration",
    "PythonEnvironment",
    "PythonSection",
    "RegistrationOptions",
    "RunConfiguration",
    "RunConfigurationException",
    "SparkConfiguration",
    "TensorflowConfiguration",
    "UploadOptions",
    "UserErrorException",
]

__getattr__ = late_names(__name__, {"ComputeTarget": "runyard.sdk.compute", "Run": "runyard.sdk.run"})
