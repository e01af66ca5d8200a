"""azureml.data.azure_data_lake_datastore, from `runyard.sdk.datastore`."""

from runyard.sdk.datastore.data_lake import AzureDataLakeDatastore, AzureDataLakeGen2Datastore

__all__ = ["AzureDataLakeDatastore", "AzureDataLakeGen2Datastore"]
