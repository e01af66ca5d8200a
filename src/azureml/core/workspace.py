"""azureml.core.workspace, from `runyard.sdk.workspace`."""

from runyard.sdk.workspace import Workspace

__all__ = ["Workspace"]
