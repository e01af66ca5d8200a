"""Azure's data lakes as datastores. As in SDK v1 they have no upload or download of their own; datasets read them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runyard.sdk.datastore.abstract_datastore import AbstractDatastore

if TYPE_CHECKING:
    from runyard.sdk.workspace.workspace import Workspace


class AzureDataLakeDatastore(AbstractDatastore):
    """Azure Data Lake Gen1: known by name, its files cannot be read."""

    def __init__(
        self,
        workspace: Workspace,
        name: str,
        store_name: str | None,
        tenant_id: str | None,
        client_id: str | None,
        client_secret: str | None,
        resource_url: str | None = None,
        authority_url: str | None = None,
        subscription_id: str | None = None,
        resource_group: str | None = None,
        service_data_access_auth_identity: str | None = None,
    ) -> None:
        super().__init__(workspace, name, "AzureDataLake")
        self.store_name = store_name
        self.tenant_id = tenant_id
        self.client_id = client_id
        self.client_secret = client_secret
        self.resource_url = resource_url
        self.authority_url = authority_url
        self._subscription_id = subscription_id
        self._resource_group = resource_group
        self.service_data_access_auth_identity = service_data_access_auth_identity

    @property
    def subscription_id(self) -> str | None:
        return self._subscription_id

    @property
    def resource_group(self) -> str | None:
        return self._resource_group


class AzureDataLakeGen2Datastore(AbstractDatastore):
    """Azure Data Lake Gen2."""

    def __init__(
        self,
        workspace: Workspace,
        name: str,
        container_name: str | None,
        account_name: str | None,
        tenant_id: str | None = None,
        client_id: str | None = None,
        client_secret: str | None = None,
        resource_url: str | None = None,
        authority_url: str | None = None,
        protocol: str | None = None,
        endpoint: str | None = None,
        service_data_access_auth_identity: str | None = None,
    ) -> None:
        super().__init__(workspace, name, "AzureDataLakeGen2")
        self.container_name = container_name
        self.account_name = account_name
        self.tenant_id = tenant_id
        self.client_id = client_id
        self.client_secret = client_secret
        self.resource_url = resource_url
        self.authority_url = authority_url
        self.protocol = protocol
        self.endpoint = endpoint
        self.service_data_access_auth_identity = service_data_access_auth_identity
