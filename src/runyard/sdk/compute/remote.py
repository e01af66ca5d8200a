"""`RemoteCompute` and `BatchCompute`: machines that SDK v1 reached over ssh or through Azure Batch. Their settings are
checked; Runyard has no engine for them, and the refusal names an alternative."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NoReturn

from runyard.sdk.compute.arguments import whole_number
from runyard.sdk.compute.compute import ComputeTarget
from runyard.sdk.compute.configuration import USE_INSTEAD, ComputeTargetAttachConfiguration, refuse
from runyard.sdk.exceptions import ComputeTargetException

if TYPE_CHECKING:
    from runyard.contracts.compute import Target
    from runyard.sdk.workspace.workspace import Workspace


class RemoteComputeAttachConfiguration(ComputeTargetAttachConfiguration):
    """How a machine is reached over ssh."""

    def __init__(
        self,
        username: str,
        subscription_id: str | None = None,
        resource_group: str | None = None,
        vm_name: str | None = None,
        resource_id: str | None = None,
        address: str | None = None,
        ssh_port: int = 22,
        password: str = "",
        private_key_file: str = "",
        private_key_passphrase: str = "",
    ) -> None:
        super().__init__(RemoteCompute)
        self.username = username
        self.subscription_id = subscription_id
        self.resource_group = resource_group
        self.vm_name = vm_name
        self.resource_id = resource_id
        self.address = address
        self.ssh_port = ssh_port
        self.password = password
        self.private_key_file = private_key_file
        self.private_key_passphrase = private_key_passphrase
        self.validate_configuration()

    def validate_configuration(self) -> None:
        """Raise ComputeTargetException when the machine, the user or the credentials are missing."""
        if not self.username:
            raise ComputeTargetException("username is required: the user to log in as.")
        named = [self.subscription_id, self.resource_group, self.vm_name]
        if any(named) and not all(named):
            raise ComputeTargetException(
                "subscription_id, resource_group and vm_name name one machine: give all three."
            )
        if sum(map(bool, (self.address, self.resource_id, all(named)))) != 1:
            raise ComputeTargetException(
                "Name the machine in one way: by its address, by its resource_id, or by subscription_id, "
                "resource_group and vm_name."
            )
        self.ssh_port = whole_number("ssh_port", self.ssh_port, least=1, most=65535)
        if bool(self.password) == bool(self.private_key_file):
            raise ComputeTargetException("Give either a password or a private_key_file to log in with.")
        if self.private_key_file and not os.path.isfile(self.private_key_file):
            raise ComputeTargetException(f"There is no private_key_file {self.private_key_file!r}.")

    def _target(self, name: str) -> Target:
        _no_ssh(self.address or self.vm_name or str(self.resource_id))


class RemoteCompute(ComputeTarget):
    """A machine that is reached over ssh."""

    _compute_type = "VirtualMachine"

    vm_size: str | None
    address: str | None
    ssh_port: int | None

    @staticmethod
    def attach(  # type: ignore[override]  # SDK v1 has another attach here
        workspace: Workspace,
        name: str,
        username: str,
        address: str,
        ssh_port: int = 22,
        password: str = "",
        private_key_file: str = "",
        private_key_passphrase: str = "",
    ) -> NoReturn:
        """Refused: Runyard starts nothing over ssh."""
        _no_ssh(address)

    @staticmethod
    def attach_configuration(
        username: str,
        subscription_id: str | None = None,
        resource_group: str | None = None,
        vm_name: str | None = None,
        resource_id: str | None = None,
        address: str | None = None,
        ssh_port: int = 22,
        password: str = "",
        private_key_file: str = "",
        private_key_passphrase: str = "",
    ) -> RemoteComputeAttachConfiguration:
        """The checked settings. Attaching them is refused."""
        return RemoteComputeAttachConfiguration(
            username,
            subscription_id,
            resource_group,
            vm_name,
            resource_id,
            address,
            ssh_port,
            password,
            private_key_file,
            private_key_passphrase,
        )

    def delete(self) -> NoReturn:
        """Refused, as in SDK v1: what was attached is detached."""
        raise ComputeTargetException(f"{self.name!r} was attached, so it is not deleted: detach() takes it out.")

    def get_credentials(self) -> NoReturn:
        """Refused: no credentials are stored."""
        raise ComputeTargetException("Runyard keeps no credentials of machines.")


class BatchCompute(ComputeTarget):
    """An account of Azure Batch."""

    _compute_type = "Batch"

    @staticmethod
    def attach_configuration(
        resource_group: str | None = None, account_name: str | None = None, resource_id: str | None = None
    ) -> ComputeTargetAttachConfiguration:
        """The settings. Attaching them is refused."""
        return ComputeTargetAttachConfiguration(BatchCompute)

    def get_credentials(self) -> NoReturn:
        """Refused: there is no account."""
        refuse("BatchCompute")


def _no_ssh(machine: str) -> NoReturn:
    raise ComputeTargetException(
        f"Runyard starts nothing over ssh, so {machine!r} cannot be attached. Run a server there (`runyard serve`) and "
        f"use its address (RUNYARD_SERVER) to submit to it. {USE_INSTEAD}"
    )
