"""azureml.data.azure_my_sql_datastore, from `runyard.sdk.datastore`."""

from runyard.sdk.datastore.databases import AzureMySqlDatastore

__all__ = ["AzureMySqlDatastore"]
