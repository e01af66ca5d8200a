"""`Datastore`: registering datastores and finding them.

from azureml.core import Datastore

datastore = Datastore.get(ws, "images")
datastore = Datastore.register_s3(ws, "images", bucket="images", access_key_id="...", secret_access_key="...")
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping, TypeVar

from runyard.contracts.data import datastores as contract
from runyard.sdk.datastore import data_lake, databases, storage
from runyard.sdk.datastore.abstract_datastore import AbstractDatastore, address
from runyard.sdk.datastore.known import found, made
from runyard.sdk.exceptions import UserErrorException

if TYPE_CHECKING:
    from runyard.sdk.workspace.workspace import Workspace

Made = TypeVar("Made", bound=AbstractDatastore)


class Datastore:
    """`Datastore(ws, "name")` is the datastore of that name, and `Datastore(ws)` the default one."""

    workspace: Workspace
    name: str

    def __new__(cls, workspace: Workspace, name: str | None = None) -> Any:
        return Datastore.get_default(workspace) if name is None else Datastore.get(workspace, name)

    def __init__(self, workspace: Workspace, name: str | None = None) -> None:
        """Never called: `__new__` gives an object of the datastore's own class."""

    # -- finding ------------------------------------------------------------------------------------------------------

    @staticmethod
    def get(workspace: Workspace, datastore_name: str) -> Any:
        """The datastore of a name."""
        if not isinstance(datastore_name, str) or not datastore_name:
            raise UserErrorException(f"A datastore is known by its name, which is a text, not {datastore_name!r}.")
        return made(workspace, workspace.service.get(address(workspace, datastore_name)))

    @staticmethod
    def get_default(workspace: Workspace) -> Any:
        """The datastore that is used where none is named: `workspaceblobstore`, unless another was chosen."""
        return next(each for each in found(workspace) if each._document.get("default"))

    def set_as_default(self) -> None:
        """Make it the datastore that is used where none is named."""

    def unregister(self) -> None:
        """Forget the datastore. Its files stay."""

    # -- registering --------------------------------------------------------------------------------------------------

    @staticmethod
    def register_folder(
        workspace: Workspace, datastore_name: str, path: str, shared: bool = False, overwrite: bool = False
    ) -> storage.FileDatastore:
        """A folder of the server's machine; `shared`, when all nodes see it at the same path."""
        kind = contract.SHARED_FOLDER if shared else contract.FOLDER
        return _registered(storage.FileDatastore, workspace, datastore_name, kind, {"path": str(path)}, {}, overwrite)

    @staticmethod
    def register_web(
        workspace: Workspace, datastore_name: str, url: str, overwrite: bool = False
    ) -> storage.FileDatastore:
        """A web address, below which files are named one by one."""
        return _registered(storage.FileDatastore, workspace, datastore_name, contract.WEB, {"url": url}, {}, overwrite)

    @staticmethod
    def register_s3(
        workspace: Workspace,
        datastore_name: str,
        bucket: str,
        access_key_id: str | None = None,
        secret_access_key: str | None = None,
        session_token: str | None = None,
        region: str | None = None,
        endpoint: str | None = None,
        prefix: str | None = None,
        virtual_hosted_style: bool = False,
        anonymous: bool = False,
        overwrite: bool = False,
    ) -> storage.FileDatastore:
        """A bucket of S3, or of another server that speaks its protocol (`endpoint`)."""
        settings = {"bucket": bucket, "access_key_id": access_key_id, "region": region, "endpoint": endpoint}
        settings.update(prefix=prefix, **_flags(virtual_hosted_style=virtual_hosted_style, anonymous=anonymous))
        secrets = {"secret_access_key": secret_access_key, "session_token": session_token}
        return _registered(storage.FileDatastore, workspace, datastore_name, contract.S3, settings, secrets, overwrite)

    @staticmethod
    def register_gcs(
        workspace: Workspace,
        datastore_name: str,
        bucket: str,
        service_account_key: str | None = None,
        prefix: str | None = None,
        anonymous: bool = False,
        overwrite: bool = False,
    ) -> storage.FileDatastore:
        """A bucket of Google Cloud Storage; the key is the JSON of a service account."""
        settings = {"bucket": bucket, "prefix": prefix, **_flags(anonymous=anonymous)}
        secrets = {"service_account_key": service_account_key}
        return _registered(storage.FileDatastore, workspace, datastore_name, contract.GCS, settings, secrets, overwrite)

    @staticmethod
    def register_azure_blob_container(
        workspace: Workspace,
        datastore_name: str,
        container_name: str,
        account_name: str,
        sas_token: str | None = None,
        account_key: str | None = None,
        protocol: str | None = None,
        endpoint: str | None = None,
        overwrite: bool = False,
        create_if_not_exists: bool = False,
        skip_validation: bool = False,
        blob_cache_timeout: int | None = None,
        grant_workspace_access: bool = False,
        subscription_id: str | None = None,
        resource_group: str | None = None,
    ) -> storage.AzureBlobDatastore:
        """A container of Azure Blob Storage. `endpoint` is the end of the host's name, or a whole address."""
        _check_access(grant_workspace_access, subscription_id, resource_group)
        settings = {"container_name": container_name, "account_name": account_name, "protocol": protocol}
        settings.update(endpoint=endpoint, subscription_id=subscription_id, resource_group=resource_group)
        secrets = {"sas_token": sas_token, "account_key": account_key}
        return _registered(
            storage.AzureBlobDatastore, workspace, datastore_name, contract.AZURE_BLOB, settings, secrets, overwrite
        )

    @staticmethod
    def register_azure_file_share(
        workspace: Workspace,
        datastore_name: str,
        file_share_name: str,
        account_name: str,
        sas_token: str | None = None,
        account_key: str | None = None,
        protocol: str | None = None,
        endpoint: str | None = None,
        overwrite: bool = False,
        create_if_not_exists: bool = False,
        skip_validation: bool = False,
    ) -> storage.AzureFileDatastore:
        """A file share of Azure. Its files can be read once it is registered with the path where it is mounted."""
        settings = {"container_name": file_share_name, "account_name": account_name, "protocol": protocol}
        secrets = {"sas_token": sas_token, "account_key": account_key}
        return _registered(
            storage.AzureFileDatastore,
            workspace,
            datastore_name,
            contract.AZURE_FILE,
            {**settings, "endpoint": endpoint},
            secrets,
            overwrite,
        )

    @staticmethod
    def register_azure_data_lake(
        workspace: Workspace,
        datastore_name: str,
        store_name: str,
        tenant_id: str | None = None,
        client_id: str | None = None,
        client_secret: str | None = None,
        resource_url: str | None = None,
        authority_url: str | None = None,
        subscription_id: str | None = None,
        resource_group: str | None = None,
        overwrite: bool = False,
        grant_workspace_access: bool = False,
    ) -> data_lake.AzureDataLakeDatastore:
        """Azure Data Lake Gen1, which is only remembered: its files cannot be read."""
        _check_access(grant_workspace_access, subscription_id, resource_group)
        _check_principal(tenant_id, client_id, client_secret)
        settings = {"store_name": store_name, "tenant_id": tenant_id, "client_id": client_id}
        settings.update(resource_url=resource_url, authority_url=authority_url)
        settings.update(subscription_id=subscription_id, resource_group=resource_group)
        secrets = {"client_secret": client_secret}
        return _registered(
            data_lake.AzureDataLakeDatastore, workspace, datastore_name, contract.GEN1, settings, secrets, overwrite
        )

    @staticmethod
    def register_azure_data_lake_gen2(
        workspace: Workspace,
        datastore_name: str,
        filesystem: str,
        account_name: str,
        tenant_id: str | None = None,
        client_id: str | None = None,
        client_secret: str | None = None,
        resource_url: str | None = None,
        authority_url: str | None = None,
        protocol: str | None = None,
        endpoint: str | None = None,
        overwrite: bool = False,
        subscription_id: str | None = None,
        resource_group: str | None = None,
        grant_workspace_access: bool = False,
    ) -> data_lake.AzureDataLakeGen2Datastore:
        """A file system of Azure Data Lake Gen2."""
        _check_access(grant_workspace_access, subscription_id, resource_group)
        _check_principal(tenant_id, client_id, client_secret)
        settings = {"container_name": filesystem, "account_name": account_name, "tenant_id": tenant_id}
        settings.update(client_id=client_id, resource_url=resource_url, authority_url=authority_url, protocol=protocol)
        settings.update(endpoint=endpoint, subscription_id=subscription_id, resource_group=resource_group)
        secrets = {"client_secret": client_secret}
        return _registered(
            data_lake.AzureDataLakeGen2Datastore, workspace, datastore_name, contract.GEN2, settings, secrets, overwrite
        )

    @staticmethod
    def register_azure_sql_database(
        workspace: Workspace,
        datastore_name: str,
        server_name: str,
        database_name: str,
        tenant_id: str | None = None,
        client_id: str | None = None,
        client_secret: str | None = None,
        resource_url: str | None = None,
        authority_url: str | None = None,
        endpoint: str | None = None,
        overwrite: bool = False,
        username: str | None = None,
        password: str | None = None,
        subscription_id: str | None = None,
        resource_group: str | None = None,
        grant_workspace_access: bool = False,
        **kwargs: Any,
    ) -> databases.AzureSqlDatabaseDatastore:
        """Azure SQL Database."""
        _check_access(grant_workspace_access, subscription_id, resource_group)
        settings = {"server_name": server_name, "database_name": database_name, "tenant_id": tenant_id}
        settings.update(client_id=client_id, resource_url=resource_url, authority_url=authority_url, endpoint=endpoint)
        settings.update(username=username, subscription_id=subscription_id, resource_group=resource_group)
        secrets = {"password": password, "client_secret": client_secret}
        return _registered(
            databases.AzureSqlDatabaseDatastore, workspace, datastore_name, contract.SQL, settings, secrets, overwrite
        )

    @staticmethod
    def register_azure_postgre_sql(
        workspace: Workspace,
        datastore_name: str,
        server_name: str,
        database_name: str,
        user_id: str,
        user_password: str,
        port_number: str | int | None = None,
        endpoint: str | None = None,
        overwrite: bool = False,
        enforce_ssl: bool = True,
        **kwargs: Any,
    ) -> databases.AzurePostgreSqlDatastore:
        """PostgreSQL."""
        settings = _database(server_name, database_name, user_id, user_password, port_number, endpoint)
        settings["enforce_ssl"] = str(bool(enforce_ssl)).lower()
        return _registered(
            databases.AzurePostgreSqlDatastore,
            workspace,
            datastore_name,
            contract.POSTGRES,
            settings,
            {"password": user_password},
            overwrite,
        )

    @staticmethod
    def register_azure_my_sql(
        workspace: Workspace,
        datastore_name: str,
        server_name: str,
        database_name: str,
        user_id: str,
        user_password: str,
        port_number: str | int | None = None,
        endpoint: str | None = None,
        overwrite: bool = False,
        **kwargs: Any,
    ) -> databases.AzureMySqlDatastore:
        """MySQL."""
        settings = _database(server_name, database_name, user_id, user_password, port_number, endpoint)
        return _registered(
            databases.AzureMySqlDatastore,
            workspace,
            datastore_name,
            contract.MYSQL,
            settings,
            {"password": user_password},
            overwrite,
        )

    @staticmethod
    def register_sqlite(
        workspace: Workspace, datastore_name: str, path: str, overwrite: bool = False
    ) -> databases.SqliteDatastore:
        """A file of SQLite, at a path that all machines see which read it."""
        return _registered(
            databases.SqliteDatastore, workspace, datastore_name, contract.SQLITE, {"path": path}, {}, overwrite
        )

    @staticmethod
    def register_dbfs(workspace: Workspace, datastore_name: str) -> databases.DBFSDatastore:
        """The file system of Databricks, which is only remembered."""
        return _registered(databases.DBFSDatastore, workspace, datastore_name, contract.DBFS, {}, {}, False)

    @staticmethod
    def register_hdfs(
        workspace: Workspace,
        datastore_name: str,
        protocol: str,
        namenode_address: str,
        hdfs_server_certificate: str | None,
        kerberos_realm: str,
        kerberos_kdc_address: str,
        kerberos_principal: str,
        kerberos_keytab: str | None = None,
        kerberos_password: str | None = None,
        overwrite: bool = False,
    ) -> databases.HDFSDatastore:
        """HDFS, which is only remembered."""
        if (kerberos_keytab is None) == (kerberos_password is None):
            raise UserErrorException("HDFS needs kerberos_keytab or kerberos_password, and not both.")
        settings = {"protocol": protocol, "namenode_address": namenode_address, "kerberos_realm": kerberos_realm}
        settings.update(kerberos_kdc_address=kerberos_kdc_address, kerberos_principal=kerberos_principal)
        if hdfs_server_certificate is not None:
            settings["hdfs_server_certificate"] = hdfs_server_certificate
        secrets = {"kerberos_keytab": kerberos_keytab, "kerberos_password": kerberos_password}
        return _registered(
            databases.HDFSDatastore, workspace, datastore_name, contract.HDFS, settings, secrets, overwrite
        )


def _registered(
    expected: type[Made],
    workspace: Workspace,
    name: str,
    kind: str,
    settings: Mapping[str, str | None],
    secrets: Mapping[str, str | None],
    overwrite: bool,
) -> Made:
    given = {key: value for key, value in settings.items() if value is not None}
    hidden = {key: value for key, value in secrets.items() if value is not None}
    try:
        contract.check_name(name)
        contract.check(kind, given, hidden)
    except contract.BadDatastore as error:
        raise UserErrorException(str(error)) from None
    body = {"name": name, "kind": kind, "settings": given, "secrets": hidden, "overwrite": bool(overwrite)}
    datastore = made(workspace, workspace.service.post(address(workspace), body))
    assert isinstance(datastore, expected)
    return datastore


def _flags(**flags: bool) -> dict[str, str | None]:
    return {key: "true" if value else None for key, value in flags.items()}


def _database(
    server: str, database: str, user: str, password: str, port: str | int | None, endpoint: str | None
) -> dict[str, str | None]:
    given = {"server_name": server, "database_name": database, "user_id": user, "user_password": password}
    for key, value in given.items():
        if value is None:
            raise UserErrorException(f"A database needs a {key}.")
    shown: dict[str, str | None] = {key: given[key] for key in ("server_name", "database_name", "user_id")}
    return {**shown, "port_number": None if port is None else str(port), "endpoint": endpoint}


def _check_access(grant: bool, subscription_id: str | None, resource_group: str | None) -> None:
    if grant and not (subscription_id and resource_group):
        raise UserErrorException("grant_workspace_access needs a subscription_id and a resource_group.")


def _check_principal(tenant_id: str | None, client_id: str | None, client_secret: str | None) -> None:
    given = [each is not None for each in (tenant_id, client_id, client_secret)]
    if any(given) and not all(given):
        raise UserErrorException("Give all of tenant_id, client_id and client_secret, or none of them.")
