"""azureml.core.conda_dependencies, from `runyard.sdk.environment.conda_dependencies`."""

from runyard.sdk.environment.conda_dependencies import CondaDependencies

__all__ = ["CondaDependencies"]
