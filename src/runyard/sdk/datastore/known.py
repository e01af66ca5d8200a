"""The datastores that the server knows, each as an object of its own class. Registering them is `datastore`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Mapping

from runyard.contracts.data import datastores as contract
from runyard.sdk.datastore import data_lake, databases, storage
from runyard.sdk.datastore.abstract_datastore import AbstractDatastore, address

if TYPE_CHECKING:
    from runyard.sdk.workspace.workspace import Workspace


def found(workspace: Workspace) -> list[Any]:
    """All datastores of a workspace."""
    return [made(workspace, each) for each in workspace.service.get(address(workspace))["datastores"]]


def made(workspace: Workspace, document: Mapping[str, Any]) -> Any:
    """The object of a datastore that the server has told about."""
    kind, name = str(document["kind"]), str(document["name"])
    settings: dict[str, str] = dict(document["settings"])
    datastore: AbstractDatastore
    if kind in _RECORDED:
        datastore = _RECORDED[kind](workspace, name, settings)
    else:
        datastore = _with_files(workspace, kind, name, settings)
    datastore._document = document
    _hint_at_credentials(datastore, document)
    return datastore


def _with_files(workspace: Workspace, kind: str, name: str, settings: Mapping[str, str]) -> AbstractDatastore:
    kept = {key: value for key, value in settings.items() if key not in ("path", "prefix")}
    if name == contract.BLOB_STORE:
        return storage.AzureBlobDatastore(workspace, name, f"azureml-blobstore-{workspace.name}", "runyard")
    if name == contract.FILE_STORE:
        return storage.AzureFileDatastore(workspace, name, f"azureml-filestore-{workspace.name}", "runyard")
    if kind == contract.AZURE_BLOB:
        return storage.AzureBlobDatastore(workspace, name, **_known(storage.AzureBlobDatastore, kept))
    if kind == contract.AZURE_FILE:
        return storage.AzureFileDatastore(workspace, name, **_known(storage.AzureFileDatastore, kept))
    if kind == contract.GEN2:
        return data_lake.AzureDataLakeGen2Datastore(
            workspace, name, **_known(data_lake.AzureDataLakeGen2Datastore, kept)
        )
    if kind == contract.GEN1:
        wanted = {"tenant_id": None, "client_id": None, "client_secret": None, **kept}
        return data_lake.AzureDataLakeDatastore(workspace, name, **_known(data_lake.AzureDataLakeDatastore, wanted))
    return storage.FileDatastore(workspace, name, kind, dict(settings))


_RECORDED: Mapping[str, type[databases._Recorded]] = {
    contract.SQL: databases.AzureSqlDatabaseDatastore,
    contract.POSTGRES: databases.AzurePostgreSqlDatastore,
    contract.MYSQL: databases.AzureMySqlDatastore,
    contract.SQLITE: databases.SqliteDatastore,
    contract.DBFS: databases.DBFSDatastore,
    contract.HDFS: databases.HDFSDatastore,
}


def _known(kind: Callable[..., Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the settings that a class takes."""
    code = kind.__init__.__code__
    return {key: value for key, value in settings.items() if key in code.co_varnames[: code.co_argcount]}


def _hint_at_credentials(datastore: AbstractDatastore, document: Mapping[str, Any]) -> None:
    """Which sort of credentials there are is told; what they are is not."""
    if isinstance(datastore, storage.AbstractAzureStorageDatastore):
        names = document["secrets"]
        datastore.credential_type = (
            "Sas" if "sas_token" in names else "AccountKey" if "account_key" in names else "None"
        )
