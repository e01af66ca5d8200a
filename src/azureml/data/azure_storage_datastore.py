"""azureml.data.azure_storage_datastore, from `runyard.sdk.datastore`."""

from runyard.sdk.datastore.storage import AbstractAzureStorageDatastore, AzureBlobDatastore, AzureFileDatastore

__all__ = ["AbstractAzureStorageDatastore", "AzureBlobDatastore", "AzureFileDatastore"]
