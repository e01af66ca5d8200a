"""azureml.core.datastore, from `runyard.sdk.datastore`."""

from runyard.sdk.datastore.datastore import Datastore

__all__ = ["Datastore"]
