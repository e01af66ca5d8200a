"""`ComputeInstance`: one node. Here it is a place on this machine, which takes runs while it is started."""

from __future__ import annotations

import builtins
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Iterator, Mapping, NoReturn

from runyard.contracts.compute import LOCAL_ENGINE, Target
from runyard.sdk.compute.aml import vm_sizes
from runyard.sdk.compute.arguments import switch
from runyard.sdk.compute.compute import ComputeTarget
from runyard.sdk.compute.configuration import ComputeTargetProvisioningConfiguration, check_network, filled
from runyard.sdk.compute.pooled import active_runs
from runyard.sdk.exceptions import ComputeTargetException

if TYPE_CHECKING:
    from runyard.contracts.documents import ComputeDocument
    from runyard.sdk.run.run import Run
    from runyard.sdk.workspace.workspace import Workspace

RUNNING, STOPPED = "Running", "Stopped"


class ComputeInstanceProvisioningConfiguration(ComputeTargetProvisioningConfiguration):
    """What a ComputeInstance is made from. Networks, ssh and users are Azure's: checked, stored, and not used."""

    def __init__(
        self,
        vm_size: str = "",
        ssh_public_access: bool = False,
        admin_user_ssh_public_key: str | None = None,
        vnet_resourcegroup_name: str | None = None,
        vnet_name: str | None = None,
        subnet_name: str | None = None,
        tags: Mapping[str, str] | None = None,
        description: str | None = None,
        assigned_user_object_id: str | None = None,
        assigned_user_tenant_id: str | None = None,
    ) -> None:
        super().__init__(ComputeInstance, None)
        self.vm_size = vm_size
        self.ssh_public_access = ssh_public_access
        self.admin_user_ssh_public_key = admin_user_ssh_public_key
        self.vnet_resourcegroup_name = vnet_resourcegroup_name
        self.vnet_name = vnet_name
        self.subnet_name = subnet_name
        self.tags = tags
        self.description = description
        self.assigned_user_object_id = assigned_user_object_id
        self.assigned_user_tenant_id = assigned_user_tenant_id
        self.validate_configuration()

    def validate_configuration(self) -> None:
        """Raise ComputeTargetException when the settings do not go together."""
        check_network(self.vnet_resourcegroup_name, self.vnet_name, self.subnet_name)
        self.ssh_public_access = switch("ssh_public_access", self.ssh_public_access)
        if self.ssh_public_access and not self.admin_user_ssh_public_key:
            raise ComputeTargetException("ssh_public_access=True needs admin_user_ssh_public_key.")
        if bool(self.assigned_user_object_id) != bool(self.assigned_user_tenant_id):
            raise ComputeTargetException("assigned_user_object_id and assigned_user_tenant_id go together: give both.")

    def _target(self, name: str) -> Target:
        return Target(
            name=name,
            engine=LOCAL_ENGINE,
            type=ComputeInstance._compute_type,
            vm_size=self.vm_size or "",
            min_nodes=0,
            max_nodes=1,
            idle_seconds=0,
            details=filled(tags=dict(self.tags or {}), description=self.description, **self._of_azure()),
        )

    def _of_azure(self) -> dict[str, object]:
        return filled(
            ssh_public_access=self.ssh_public_access or None,
            admin_user_ssh_public_key=self.admin_user_ssh_public_key,
            vnet_resourcegroup_name=self.vnet_resourcegroup_name,
            vnet_name=self.vnet_name,
            subnet_name=self.subnet_name,
            assigned_user_object_id=self.assigned_user_object_id,
            assigned_user_tenant_id=self.assigned_user_tenant_id,
        )

    def _unused(self) -> list[str]:
        return sorted(self._of_azure())


@dataclass
class ComputeInstanceStatus:
    """The result of `ComputeInstance.get_status()`. `state` is Running, or Stopped when it takes no runs."""

    creation_time: str | None
    created_by_user_name: str | None
    created_by_user_id: str | None
    created_by_user_org: str | None
    errors: list[dict[str, Any]] | None
    modified_time: str | None
    state: str
    vm_size: str

    def serialize(self) -> dict[str, Any]:
        return {
            "errors": self.errors,
            "creationTime": self.creation_time,
            "createdBy": {
                "userObjectId": self.created_by_user_id,
                "userTenantId": self.created_by_user_org,
                "userName": self.created_by_user_name,
            },
            "modifiedTime": self.modified_time,
            "state": self.state,
            "vmSize": self.vm_size,
        }

    @staticmethod
    def deserialize(object_dict: Mapping[str, Any] | None) -> ComputeInstanceStatus | None:
        if object_dict is None:
            return None
        maker = object_dict.get("createdBy") or {}
        return ComputeInstanceStatus(
            creation_time=object_dict.get("creationTime"),
            created_by_user_name=maker.get("userName"),
            created_by_user_id=maker.get("userObjectId"),
            created_by_user_org=maker.get("userTenantId"),
            errors=object_dict.get("errors"),
            modified_time=object_dict.get("modifiedTime"),
            state=object_dict.get("state") or "",
            vm_size=object_dict.get("vmSize") or "",
        )


class ComputeInstance(ComputeTarget):
    """One node. While it is stopped it takes no runs; an active run goes on to its end."""

    _compute_type = "ComputeInstance"

    vm_size: str
    ssh_public_access: bool
    admin_username: str | None
    admin_user_ssh_public_key: str | None
    ssh_port: int | None
    vnet_resourcegroup_name: str | None
    vnet_name: str | None
    subnet_name: str | None
    status: ComputeInstanceStatus
    public_ip_address: str | None
    private_ip_address: str | None
    applications: builtins.list[dict[str, Any]]
    errors: builtins.list[dict[str, Any]] | None
    subnet_id: str | None
    assigned_user_object_id: str | None
    assigned_user_tenant_id: str | None

    def _take(self, workspace: Workspace, document: ComputeDocument) -> None:
        super()._take(workspace, document)
        details = document["details"]
        self.vm_size = document["vm_size"]
        self.ssh_public_access = bool(details.get("ssh_public_access"))
        for name in _SHOWN:
            setattr(self, name, details.get(name))
        self.admin_username = self.ssh_port = self.subnet_id = None
        self.public_ip_address = self.private_ip_address = None
        self.applications = []
        self.errors = self.provisioning_errors
        self.status = ComputeInstanceStatus(
            creation_time=self.created_on,
            created_by_user_name=None,
            created_by_user_id=None,
            created_by_user_org=None,
            errors=self.errors,
            modified_time=self.modified_on,
            state=STOPPED if document["max_nodes"] == 0 else RUNNING,
            vm_size=self.vm_size,
        )

    @staticmethod
    def provisioning_configuration(
        vm_size: str = "",
        ssh_public_access: bool = False,
        admin_user_ssh_public_key: str | None = None,
        vnet_resourcegroup_name: str | None = None,
        vnet_name: str | None = None,
        subnet_name: str | None = None,
        tags: Mapping[str, str] | None = None,
        description: str | None = None,
        assigned_user_object_id: str | None = None,
        assigned_user_tenant_id: str | None = None,
    ) -> ComputeInstanceProvisioningConfiguration:
        """The configuration of an instance that is to be made."""
        return ComputeInstanceProvisioningConfiguration(
            vm_size,
            ssh_public_access,
            admin_user_ssh_public_key,
            vnet_resourcegroup_name,
            vnet_name,
            subnet_name,
            tags,
            description,
            assigned_user_object_id,
            assigned_user_tenant_id,
        )

    def get_status(self) -> ComputeInstanceStatus:
        """The current status of the instance."""
        self.refresh_state()
        return self.status

    def start(self, wait_for_completion: bool = False, show_output: bool = False) -> None:
        """Let the instance take runs again."""
        self._turn(1, show_output)

    def stop(self, wait_for_completion: bool = False, show_output: bool = False) -> None:
        """Take no more runs. An active run goes on to its end: run.cancel() stops it."""
        self._turn(0, show_output)

    def restart(self, wait_for_completion: bool = False, show_output: bool = False) -> None:
        """The same as `start`: on this machine there is nothing to restart."""
        self.start(wait_for_completion, show_output)

    def delete(self, wait_for_completion: bool = False, show_output: bool = False) -> None:
        """Remove the instance from the workspace."""
        super().delete()
        if wait_for_completion:
            self.wait_for_completion(show_output, is_delete_operation=True)

    def detach(self) -> NoReturn:
        """Refused: delete the instance instead."""
        self._cannot_detach()

    def update_sso_settings(self, value: bool) -> NoReturn:
        """Refused: nobody signs in to a place on this machine."""
        raise ComputeTargetException(f"Nobody signs in to {self.name!r}, so it has no single sign-on to change.")

    def get_active_runs(
        self, type: str | None = None, tags: object = None, properties: object = None, status: str | None = None
    ) -> Iterator[Run]:
        """The runs that are queued for the instance or active on it."""
        return active_runs(self, type, tags, properties, status)

    @staticmethod
    def supported_vmsizes(workspace: Workspace, location: str | None = None) -> builtins.list[dict[str, Any]]:
        """The sizes that `vm_size` may name, with their cores, memory and GPUs."""
        return vm_sizes()

    def serialize(self) -> dict[str, Any]:
        document = super().serialize()
        document["properties"]["properties"]["status"] = self.status.serialize()
        return document

    def _turn(self, nodes: int, show_output: bool) -> None:
        self._change(max_nodes=nodes)
        if show_output:
            print(self.status.state, flush=True)


_SHOWN = (
    *("admin_user_ssh_public_key", "vnet_resourcegroup_name", "vnet_name", "subnet_name"),
    *("assigned_user_object_id", "assigned_user_tenant_id"),
)
