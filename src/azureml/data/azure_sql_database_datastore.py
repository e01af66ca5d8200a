"""azureml.data.azure_sql_database_datastore, from `runyard.sdk.datastore`."""

from runyard.sdk.datastore.databases import AzureSqlDatabaseDatastore

__all__ = ["AzureSqlDatabaseDatastore"]
