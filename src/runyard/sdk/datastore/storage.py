"""Datastores that hold files: `AzureBlobDatastore`, `AzureFileDatastore`, and Runyard's own kinds.

The workspace's own datastores are folders, and still of the classes that SDK v1's scripts know them by.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Sequence

from runyard.sdk.data.data_reference import DataReference
from runyard.sdk.datastore import transfers
from runyard.sdk.datastore.abstract_datastore import AbstractDatastore

if TYPE_CHECKING:
    from runyard.sdk.workspace.workspace import Workspace


class AbstractAzureStorageDatastore(AbstractDatastore):
    """A datastore with files."""

    def __init__(
        self,
        workspace: Workspace,
        name: str,
        datastore_type: str,
        container_name: str | None,
        account_name: str | None,
        sas_token: str | None = None,
        account_key: str | None = None,
        protocol: str | None = None,
        endpoint: str | None = None,
    ) -> None:
        super().__init__(workspace, name, datastore_type)
        self.container_name = container_name
        self.account_name = account_name
        self.sas_token = sas_token
        self.account_key = account_key
        self.protocol = protocol
        self.endpoint = endpoint
        self.credential_type = "Sas" if sas_token else "AccountKey" if account_key else "None"

    @property
    def is_sas(self) -> bool:
        return self.credential_type == "Sas"

    def path(self, path: str | None = None, data_reference_name: str | None = None) -> DataReference:
        """A reference to a path in the datastore, or to all of it."""
        below = None if path in (None, "", ".", "./", "/") else path
        return DataReference(self, data_reference_name, below)

    def as_download(self, path_on_compute: str | None = None) -> DataReference:
        """The whole datastore, copied to the node before the script starts."""
        return self.path().as_download(path_on_compute)

    def as_upload(self, path_on_compute: str | None = None) -> DataReference:
        """The whole datastore, written to when the script has ended."""
        return self.path().as_upload(path_on_compute)

    def as_mount(self) -> DataReference:
        """The whole datastore, read in place."""
        return self.path().as_mount()

    def upload(
        self, src_dir: str, target_path: str | None = None, overwrite: bool = False, show_progress: bool = True
    ) -> DataReference:
        """Copy what is in a folder to below `target_path`. Files that are there already are skipped, unless they are to
        be overwritten."""
        files = transfers.of_folder(src_dir, target_path)
        transfers.upload(transfers.remote(self), files, overwrite, show_progress)
        return self._uploaded(target_path)

    def upload_files(
        self,
        files: Sequence[str],
        relative_root: str | None = None,
        target_path: str | None = None,
        overwrite: bool = False,
        show_progress: bool = True,
    ) -> DataReference:
        """Copy files to below `target_path`, each at its path below `relative_root`: by default, the folder that all
        of them share."""
        chosen = transfers.of_files(files, relative_root, target_path)
        transfers.upload(transfers.remote(self), chosen, overwrite, show_progress)
        return self._uploaded(target_path)

    def download(
        self, target_path: str, prefix: str | None = None, overwrite: bool = False, show_progress: bool = True
    ) -> int:
        """Copy the files whose paths begin with `prefix` to below a folder, and return how many were copied."""
        return transfers.download(transfers.remote(self), Path(target_path), prefix, overwrite, show_progress).files

    def _uploaded(self, target_path: str | None) -> DataReference:
        return DataReference(self, None if target_path else self.name, target_path or "")

    def __repr__(self) -> str:
        shown = ("name", "container_name", "account_name", "protocol", "endpoint")
        return json.dumps({each: getattr(self, each) for each in shown}, indent=2)

    def __str__(self) -> str:
        return repr(self)


class AzureBlobDatastore(AbstractAzureStorageDatastore):
    """Azure Blob Storage; `workspaceblobstore` is one by name, and a folder of the server."""

    def __init__(
        self,
        workspace: Workspace,
        name: str,
        container_name: str | None,
        account_name: str | None,
        sas_token: str | None = None,
        account_key: str | None = None,
        protocol: str | None = None,
        endpoint: str | None = None,
        request_session: Any = None,
        workspace_msi_has_access: bool = False,
        subscription_id: str | None = None,
        resource_group: str | None = None,
        service_data_access_auth_identity: str | None = None,
    ) -> None:
        credentials = (sas_token, account_key, protocol, endpoint)
        super().__init__(workspace, name, "AzureBlob", container_name, account_name, *credentials)
        self.workspace_msi_has_access = workspace_msi_has_access
        self.subscription_id = subscription_id
        self.resource_group = resource_group
        self.service_data_access_auth_identity = service_data_access_auth_identity
        self.blob_service = None


class AzureFileDatastore(AbstractAzureStorageDatastore):
    """A file share of Azure; `workspacefilestore` is one by name, and a folder of the server."""

    def __init__(
        self,
        workspace: Workspace,
        name: str,
        container_name: str | None,
        account_name: str | None,
        sas_token: str | None = None,
        account_key: str | None = None,
        protocol: str | None = None,
        endpoint: str | None = "core.windows.net",
        request_session: Any = None,
    ) -> None:
        credentials = (sas_token, account_key, protocol, endpoint)
        super().__init__(workspace, name, "AzureFile", container_name, account_name, *credentials)
        self.file_service = None


class FileDatastore(AbstractAzureStorageDatastore):
    """A datastore of a kind that SDK v1 does not have: a folder, a web address, S3, Google Cloud Storage.

    `settings` is what it is made of; credentials are not among it.
    """

    def __init__(self, workspace: Workspace, name: str, kind: str, settings: dict[str, str]) -> None:
        container = settings.get("bucket") or settings.get("path") or settings.get("url")
        names = {"s3": "AmazonS3", "gcs": "GoogleCloudStorage", "web": "Web"}
        super().__init__(workspace, name, names.get(kind, "Folder"), container, None, endpoint=settings.get("endpoint"))
        self.settings = dict(settings)
