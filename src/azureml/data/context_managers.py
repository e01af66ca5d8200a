"""azureml.data.context_managers, from `runyard.sdk.data`."""

from runyard.sdk.data.context_managers import DatasetContextManager, DatastoreContextManager

__all__ = ["DatasetContextManager", "DatastoreContextManager"]
