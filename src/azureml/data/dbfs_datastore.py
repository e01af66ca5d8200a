"""azureml.data.dbfs_datastore, from `runyard.sdk.datastore`."""

from runyard.sdk.datastore.databases import DBFSDatastore

__all__ = ["DBFSDatastore"]
