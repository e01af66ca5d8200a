"""`AmlCompute`: a pool of nodes that grows and shrinks with the runs. Here its nodes are places on this machine."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any, Mapping, NoReturn, Sequence

from runyard.contracts.compute import DEDICATED, LOCAL_ENGINE, Target
from runyard.sdk.compute.aml_status import ScaleSettings
from runyard.sdk.compute.arguments import chosen, switch
from runyard.sdk.compute.configuration import (
    ComputeTargetProvisioningConfiguration,
    check_network,
    checked_priority,
    checked_scale,
    filled,
)
from runyard.sdk.compute.pooled import PooledCompute
from runyard.sdk.exceptions import ComputeTargetException

if TYPE_CHECKING:
    from runyard.contracts.documents import ComputeDocument
    from runyard.sdk.workspace.workspace import Workspace

NOT_SPECIFIED = "NotSpecified"
REMOTE_LOGIN = ("Enabled", "Disabled", NOT_SPECIFIED)
IDENTITIES = ("SystemAssigned", "UserAssigned")


class AmlComputeProvisioningConfiguration(ComputeTargetProvisioningConfiguration):
    """What an AmlCompute is made from. Accounts, networks and identities are Azure's: checked, stored, and not used."""

    def __init__(
        self,
        vm_size: str = "",
        vm_priority: str = DEDICATED,
        min_nodes: int = 0,
        max_nodes: int | None = None,
        idle_seconds_before_scaledown: int = 1800,
        admin_username: str | None = None,
        admin_user_password: str | None = None,
        admin_user_ssh_key: str | None = None,
        vnet_resourcegroup_name: str | None = None,
        vnet_name: str | None = None,
        subnet_name: str | None = None,
        tags: Mapping[str, str] | None = None,
        description: str | None = None,
        remote_login_port_public_access: str = NOT_SPECIFIED,
        identity_type: str | None = None,
        identity_id: Sequence[str] | None = None,
        compute_location: str | None = None,
        enable_node_public_ip: bool = True,
    ) -> None:
        super().__init__(AmlCompute, compute_location)
        self.vm_size = vm_size
        self.vm_priority = vm_priority
        self.scale_settings = ScaleSettings(min_nodes, max_nodes, idle_seconds_before_scaledown)
        self.admin_username = admin_username
        self.admin_user_password = admin_user_password
        self.admin_user_ssh_key = admin_user_ssh_key
        self.vnet_resourcegroup_name = vnet_resourcegroup_name
        self.vnet_name = vnet_name
        self.subnet_name = subnet_name
        self.tags = tags
        self.description = description
        self.remote_login_port_public_access = remote_login_port_public_access
        self.identity_type = identity_type
        self.identity_id = identity_id
        self.compute_location = compute_location
        self.enable_node_public_ip = enable_node_public_ip
        self.validate_configuration()

    def validate_configuration(self) -> None:
        """Raise ComputeTargetException when the settings do not go together."""
        scale = self.scale_settings
        self.scale_settings = ScaleSettings(
            *checked_scale(scale.minimum_node_count, scale.maximum_node_count, scale.idle_seconds_before_scaledown)
        )
        checked_priority(self.vm_priority)
        check_network(self.vnet_resourcegroup_name, self.vnet_name, self.subnet_name)
        _check_account(self.admin_username, self.admin_user_password, self.admin_user_ssh_key)
        self.remote_login_port_public_access = chosen(
            "remote_login_port_public_access", self.remote_login_port_public_access or NOT_SPECIFIED, REMOTE_LOGIN
        )
        self.enable_node_public_ip = switch("enable_node_public_ip", self.enable_node_public_ip)
        if self.identity_type is not None:
            self.identity_type = chosen("identity_type", self.identity_type, IDENTITIES)
        if isinstance(self.identity_id, str):
            self.identity_id = [self.identity_id]
        if self.identity_type == "UserAssigned" and not self.identity_id:
            raise ComputeTargetException("identity_type='UserAssigned' needs identity_id, the list of the identities.")

    def _target(self, name: str) -> Target:
        scale = self.scale_settings
        return Target(
            name=name,
            engine=LOCAL_ENGINE,
            type=AmlCompute._compute_type,
            vm_size=self.vm_size or "",
            vm_priority=checked_priority(self.vm_priority),
            min_nodes=scale.minimum_node_count,
            max_nodes=scale.maximum_node_count,
            idle_seconds=scale.idle_seconds_before_scaledown,
            details=filled(
                tags=dict(self.tags or {}),
                description=self.description,
                location=self.compute_location,
                **self._of_azure(),
            ),
        )

    def _of_azure(self) -> dict[str, object]:
        """What is shown again, and nothing else. A password is not stored."""
        login = self.remote_login_port_public_access
        return filled(
            admin_username=self.admin_username,
            admin_user_ssh_key=self.admin_user_ssh_key,
            vnet_resourcegroup_name=self.vnet_resourcegroup_name,
            vnet_name=self.vnet_name,
            subnet_name=self.subnet_name,
            remote_login_port_public_access=None if login == NOT_SPECIFIED else login,
            identity_type=self.identity_type,
            identity_id=list(self.identity_id or ()),
        )

    def _unused(self) -> list[str]:
        return sorted(self._of_azure())


class AmlCompute(PooledCompute):
    """A pool of nodes. It has `min_nodes` at least, grows to `max_nodes` when runs need them, and releases nodes that
    were idle for a while."""

    _compute_type = "AmlCompute"

    admin_username: str | None
    admin_user_password: None
    admin_user_ssh_key: str | None
    vnet_resourcegroup_name: str | None
    vnet_name: str | None
    subnet_name: str | None
    remote_login_port_public_access: str
    identity_type: str | None
    identity_id: builtins.list[str] | None

    def _take(self, workspace: Workspace, document: ComputeDocument) -> None:
        super()._take(workspace, document)
        details = document["details"]
        self.admin_user_password = None
        self.remote_login_port_public_access = details.get("remote_login_port_public_access") or NOT_SPECIFIED
        for name in _SHOWN:
            setattr(self, name, details.get(name))

    @staticmethod
    def provisioning_configuration(
        vm_size: str = "",
        vm_priority: str = DEDICATED,
        min_nodes: int = 0,
        max_nodes: int | None = None,
        idle_seconds_before_scaledown: int = 1800,
        admin_username: str | None = None,
        admin_user_password: str | None = None,
        admin_user_ssh_key: str | None = None,
        vnet_resourcegroup_name: str | None = None,
        vnet_name: str | None = None,
        subnet_name: str | None = None,
        tags: Mapping[str, str] | None = None,
        description: str | None = None,
        remote_login_port_public_access: str = NOT_SPECIFIED,
        identity_type: str | None = None,
        identity_id: Sequence[str] | None = None,
        location: str | None = None,
        enable_node_public_ip: bool = True,
    ) -> AmlComputeProvisioningConfiguration:
        """The configuration of a pool that is to be made. `max_nodes` is required.

        >>> AmlCompute.provisioning_configuration(vm_size="STANDARD_NC6", max_nodes=4).scale_settings
        ScaleSettings(minimum_node_count=0, maximum_node_count=4, idle_seconds_before_scaledown=1800)
        """
        return AmlComputeProvisioningConfiguration(
            vm_size,
            vm_priority,
            min_nodes,
            max_nodes,
            idle_seconds_before_scaledown,
            admin_username,
            admin_user_password,
            admin_user_ssh_key,
            vnet_resourcegroup_name,
            vnet_name,
            subnet_name,
            tags,
            description,
            remote_login_port_public_access,
            identity_type,
            identity_id,
            location,
            enable_node_public_ip,
        )

    def update(
        self,
        min_nodes: int | None = None,
        max_nodes: int | None = None,
        idle_seconds_before_scaledown: int | None = None,
    ) -> None:
        """Change how the pool grows and shrinks; None leaves a value unchanged."""
        given = {
            "min_nodes": min_nodes,
            "max_nodes": max_nodes,
            "idle_seconds": idle_seconds_before_scaledown,
        }
        changes = {name: value for name, value in given.items() if value is not None}
        if not changes:
            raise ComputeTargetException("Give min_nodes, max_nodes or idle_seconds_before_scaledown to change it.")
        self.refresh_state()
        now = {name: self._document[name] for name in given}  # type: ignore[literal-required]
        checked = dict(zip(given, checked_scale(*{**now, **changes}.values())))
        self._change(**{name: checked[name] for name in changes})

    def detach(self) -> NoReturn:
        """Refused: delete the pool instead."""
        self._cannot_detach()

    def add_identity(self, identity_type: str, identity_id: Sequence[str] | None = None) -> NoReturn:
        """Refused: identities are Azure's."""
        _no_identities(self.name)

    def remove_identity(self, identity_id: Sequence[str] | None = None) -> NoReturn:
        """Refused: identities are Azure's."""
        _no_identities(self.name)

    @staticmethod
    def supported_vmsizes(workspace: Workspace, location: str | None = None) -> builtins.list[dict[str, Any]]:
        """The sizes that `vm_size` may name, with their cores, memory and GPUs."""
        return vm_sizes()

    @staticmethod
    def list_usages(
        workspace: Workspace, show_all: bool = False, location: str | None = None
    ) -> builtins.list[dict[str, Any]]:
        """How much of Azure's quotas is used: there are none here."""
        return []

    @staticmethod
    def list_quotas(workspace: Workspace, location: str | None = None) -> builtins.list[dict[str, Any]]:
        """Azure's quotas: there are none here."""
        return []

    @staticmethod
    def update_quotas(
        workspace: Workspace, vm_family: Any, limit: int | None = None, location: str | None = None
    ) -> NoReturn:
        """Refused: there are no quotas."""
        raise ComputeTargetException(
            "Runyard has no quotas. How many nodes a target may have is its max_nodes: target.update(max_nodes=...)."
        )

    def serialize(self) -> dict[str, Any]:
        document = super().serialize()
        network = (self.vnet_resourcegroup_name, self.vnet_name, self.subnet_name)
        document["properties"]["properties"].update(
            userAccountCredentials={
                "adminUserName": self.admin_username,
                "adminUserPassword": None,
                "adminUserSshPublicKey": self.admin_user_ssh_key,
            },
            subnet={"id": "/".join(str(part) for part in network)} if all(network) else None,
            remoteLoginPortPublicAccess=self.remote_login_port_public_access,
        )
        return document


_SHOWN = (
    *("admin_username", "admin_user_ssh_key", "vnet_resourcegroup_name", "vnet_name", "subnet_name"),
    *("identity_type", "identity_id"),
)


def vm_sizes() -> list[dict[str, Any]]:
    """Azure's sizes, as SDK v1 lists them."""
    from runyard.contracts import vm_sizes as sizes

    return [
        {"name": size.name, "vCPUs": size.cores, "gpus": size.gpus, "memoryGB": size.memory_mb / 1024}
        for size in sizes.all_sizes()
    ]


def _check_account(username: str | None, password: str | None, key: str | None) -> None:
    if username and not (password or key):
        raise ComputeTargetException("admin_username needs admin_user_password or admin_user_ssh_key beside it.")
    if (password or key) and not username:
        raise ComputeTargetException("admin_user_password and admin_user_ssh_key need admin_username beside them.")


def _no_identities(name: str) -> NoReturn:
    raise ComputeTargetException(
        f"Identities are Azure's: {name!r} runs as the user of the server. Hand credentials to a run with "
        "run_config.environment_variables."
    )
