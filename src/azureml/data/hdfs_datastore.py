"""azureml.data.hdfs_datastore, from `runyard.sdk.datastore`."""

from runyard.sdk.datastore.databases import HDFSDatastore

__all__ = ["HDFSDatastore"]
