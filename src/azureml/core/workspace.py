"""azureml.core.workspace, from `runyard.sdk.workspace.workspace`."""

from runyard.sdk.workspace.workspace import Workspace

__all__ = ["Workspace"]
