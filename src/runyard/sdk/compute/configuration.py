"""What a compute target is made from: the bases of all provisioning, attach and update configurations."""

from __future__ import annotations

from typing import NoReturn

from runyard.contracts.compute import DEDICATED, LOW_PRIORITY, Target
from runyard.sdk.compute.arguments import whole_number
from runyard.sdk.exceptions import ComputeTargetException

USE_INSTEAD = (
    "Runs take place on this machine (compute_target='local', or AmlCompute.provisioning_configuration for a pool of "
    "nodes), on a Ray cluster (RayCompute.attach_configuration(address='head:6379')) or on Slurm "
    "(SlurmCompute.attach_configuration(partition='gpu'))."
)


class _Configuration:
    """What all of them have in common: a check, and the target that they describe."""

    def __init__(self, type: type | None) -> None:
        self._compute_type = type

    def validate_configuration(self) -> None:
        """Raise ComputeTargetException when the settings do not go together."""

    def _target(self, name: str) -> Target:
        """The target of that name; ComputeTargetException when Runyard has no such targets."""
        kind = self._compute_type.__name__ if self._compute_type is not None else type(self).__name__
        refuse(kind)

    def _unused(self) -> list[str]:
        """Settings that are given and stored, and have no effect here."""
        return []


class ComputeTargetProvisioningConfiguration(_Configuration):
    """Of a target that is made."""

    def __init__(self, type: type | None, location: str | None) -> None:
        super().__init__(type)
        self.location = location


class ComputeTargetAttachConfiguration(_Configuration):
    """Of an existing cluster that is attached."""

    def __init__(self, type: type | None) -> None:
        super().__init__(type)


class ComputeTargetUpdateConfiguration(_Configuration):
    """Of a change to a target."""

    def __init__(self, type: type | None) -> None:
        super().__init__(type)


def refuse(kind: str) -> NoReturn:
    raise ComputeTargetException(f"Runyard has no compute targets of the kind {kind}. {USE_INSTEAD}")


def checked_scale(min_nodes: object, max_nodes: object, idle_seconds: object) -> tuple[int, int, int]:
    """How a target grows and shrinks, as numbers; ComputeTargetException when they do not go together."""
    if max_nodes is None:
        raise ComputeTargetException("max_nodes is required: the number of nodes that the target may grow to.")
    least, most = whole_number("min_nodes", min_nodes), whole_number("max_nodes", max_nodes)
    idle = whole_number("idle_seconds_before_scaledown", idle_seconds)
    if most < least:
        raise ComputeTargetException(f"max_nodes ({most}) is less than min_nodes ({least}).")
    return least, most, idle


def checked_priority(vm_priority: object) -> str:
    """`dedicated` or `lowpriority`, in whatever case it was written."""
    known = str(vm_priority or DEDICATED).lower().replace("_", "")
    if known not in (DEDICATED, LOW_PRIORITY):
        raise ComputeTargetException(f"vm_priority is {DEDICATED!r} or {LOW_PRIORITY!r}, not {vm_priority!r}.")
    return known


def check_network(vnet_resourcegroup_name: str | None, vnet_name: str | None, subnet_name: str | None) -> None:
    """The three that name a subnet: all, or none."""
    given = [vnet_resourcegroup_name, vnet_name, subnet_name]
    if any(given) and not all(given):
        raise ComputeTargetException(
            "vnet_resourcegroup_name, vnet_name and subnet_name name one subnet together: give all three, or none."
        )


def filled(**settings: object) -> dict[str, object]:
    """The settings that are not empty."""
    return {name: value for name, value in settings.items() if value not in (None, "", [], {})}
