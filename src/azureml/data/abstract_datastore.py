"""azureml.data.abstract_datastore, from `runyard.sdk.datastore`."""

from runyard.sdk.datastore.abstract_datastore import AbstractDatastore

__all__ = ["AbstractDatastore"]
