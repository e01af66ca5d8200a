"""azureml.core.environment, from `runyard.sdk`. DockerEnvironment and PythonEnvironment are old names."""

from typing import TYPE_CHECKING

from runyard.sdk.environment.conda_dependencies import CondaDependencies
from runyard.sdk.environment.container_registry import ContainerRegistry
from runyard.sdk.environment.environment import Environment, EnvironmentReference
from runyard.sdk.environment.sections import (
    DEFAULT_CPU_IMAGE,
    DEFAULT_GPU_IMAGE,
    DatabricksSection,
    DockerBuildContext,
    DockerImageDetails,
    DockerImagePlatform,
    DockerSection,
    PythonSection,
    SparkPackage,
    SparkSection,
)
from runyard.sdk.environment.sections import DockerSection as DockerEnvironment
from runyard.sdk.environment.sections import PythonSection as PythonEnvironment
from runyard.sdk.sdk_v1 import late_names

if TYPE_CHECKING:
    from runyard.sdk.environment.builds import ImageBuildDetails

__all__ = [
    "DEFAULT_CPU_IMAGE",
    "DEFAULT_GPU_IMAGE",
    "CondaDependencies",
    "ContainerRegistry",
    "DatabricksSection",
    "DockerBuildContext",
    "DockerEnvironment",
    "DockerImageDetails",
    "DockerImagePlatform",
    "DockerSection",
    "Environment",
    "EnvironmentReference",
    "ImageBuildDetails",
    "PythonEnvironment",
    "PythonSection",
    "SparkPackage",
    "SparkSection",
]

__getattr__ = late_names(__name__, {"ImageBuildDetails": "runyard.sdk.environment.builds"})
