"""Where a container image comes from, and the credentials for it."""

from __future__ import annotations

from runyard.sdk.configuration import SECRET, Configuration, of
from runyard.system.records import field, record


@record(repr=False)
class RegistryIdentity(Configuration):
    resource_id: str | None = None
    client_id: str | None = None


@record(repr=False)
class ContainerRegistry(Configuration):
    """An image registry: an address with a user name and password, or with an identity."""

    address: str | None = None
    username: str | None = None
    password: str | None = field(default=None, metadata=SECRET)
    registry_identity: RegistryIdentity | None = field(default=None, metadata=of(RegistryIdentity))
