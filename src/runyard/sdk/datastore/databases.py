"""Datastores without files: databases, whose rows `Dataset.Tabular.from_sql_query` reads, and the file systems of
Databricks and Hadoop, which are only known by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Mapping

from runyard.sdk.datastore.abstract_datastore import AbstractDatastore

if TYPE_CHECKING:
    from runyard.sdk.workspace.workspace import Workspace


class _Recorded(AbstractDatastore):
    """A datastore whose settings are its attributes."""

    type_name = ""

    def __init__(self, workspace: Workspace, name: str, settings: Mapping[str, str] | None = None) -> None:
        super().__init__(workspace, name, self.type_name)
        for key, value in (settings or {}).items():
            setattr(self, key, value)


class AzureSqlDatabaseDatastore(_Recorded):
    """Azure SQL Database."""

    type_name = "AzureSqlDatabase"


class AzurePostgreSqlDatastore(_Recorded):
    """PostgreSQL."""

    type_name = "AzurePostgreSql"


class AzureMySqlDatastore(_Recorded):
    """MySQL."""

    type_name = "AzureMySql"


class SqliteDatastore(_Recorded):
    """A file of SQLite."""

    type_name = "Sqlite"


class DBFSDatastore(_Recorded):
    """The file system of Databricks."""

    type_name = "DBFS"


class HDFSDatastore(_Recorded):
    """The file system of Hadoop."""

    type_name = "Hdfs"
