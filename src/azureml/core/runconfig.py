"""azureml.core.runconfig, from `runyard.sdk`. AzureContainerRegistry, Cr, DockerEnvironment, ... are old names."""

from runyard.sdk.compute.legacy import AbstractComputeTarget
from runyard.sdk.data.configuration import (
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
from runyard.sdk.data.dataset_consumption import DatasetConsumptionConfig
from runyard.sdk.environment.conda_dependencies import CondaDependencies
from runyard.sdk.environment.container_registry import ContainerRegistry
from runyard.sdk.environment.container_registry import ContainerRegistry as AzureContainerRegistry
from runyard.sdk.environment.container_registry import ContainerRegistry as Cr
from runyard.sdk.environment.environment import Environment, EnvironmentDefinition
from runyard.sdk.environment.sections import DEFAULT_CPU_IMAGE, DEFAULT_GPU_IMAGE, DockerSection, PythonSection
from runyard.sdk.environment.sections import DockerSection as DockerEnvironment
from runyard.sdk.environment.sections import PythonSection as PythonEnvironment
from runyard.sdk.exceptions import RunConfigurationException, UserErrorException
from runyard.sdk.sdk_v1 import late_names
from runyard.sdk.submit.distributed import (
    MpiConfiguration,
    ParallelTaskConfiguration,
    PyTorchConfiguration,
    TensorflowConfiguration,
)
from runyard.sdk.submit.runconfig import (
    AmlComputeConfiguration,
    DockerConfiguration,
    HdiConfiguration,
    HistoryConfiguration,
    KubernetesComputeConfiguration,
    RunConfiguration,
    SparkConfiguration,
)

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

__getattr__ = late_names(__name__, {"ComputeTarget": "runyard.sdk.compute.compute", "Run": "runyard.sdk.run.run"})
