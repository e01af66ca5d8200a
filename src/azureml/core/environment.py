"""azureml.core.environment, from `runyard.sdk`. DockerEnvironment and PythonEnvironment are old names."""

from runyard.sdk.conda_dependencies import CondaDependencies
from runyard.sdk.container_registry import ContainerRegistry
from runyard.sdk.environment import Environment, EnvironmentReference
from runyard.sdk.environment_sections import (
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
from runyard.sdk.environment_sections import DockerSection as DockerEnvironment
from runyard.sdk.environment_sections import PythonSection as PythonEnvironment

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
    "PythonEnvironment",
    "PythonSection",
    "SparkPackage",
    "SparkSection",
]
