"""azureml.data.azure_postgre_sql_datastore, from `runyard.sdk.datastore`."""

from runyard.sdk.datastore.databases import AzurePostgreSqlDatastore

__all__ = ["AzurePostgreSqlDatastore"]
