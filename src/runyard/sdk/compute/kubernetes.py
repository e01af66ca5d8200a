"""`KubernetesCompute`: a Kubernetes cluster. Its settings are checked as in SDK v1; this version runs nothing on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Mapping, Sequence

from runyard.sdk.compute.arguments import chosen
from runyard.sdk.compute.compute import ComputeTarget
from runyard.sdk.compute.configuration import ComputeTargetAttachConfiguration
from runyard.sdk.exceptions import ComputeTargetException

IDENTITIES = ("SystemAssigned", "UserAssigned", "None")


class KubernetesComputeAttachConfiguration(ComputeTargetAttachConfiguration):
    """Which cluster, and which namespace of it."""

    def __init__(
        self,
        resource_id: str | None = None,
        namespace: str | None = None,
        identity_type: str | None = None,
        identity_ids: Sequence[str] | None = None,
    ) -> None:
        super().__init__(KubernetesCompute)
        self.resource_id = resource_id
        self.namespace = namespace
        self.identity_type = identity_type
        self.identity_ids = identity_ids
        self.validate_configuration()

    def validate_configuration(self) -> None:
        """Raise ComputeTargetException when the settings do not go together."""
        if not self.resource_id:
            raise ComputeTargetException("resource_id is required: it names the Kubernetes cluster.")
        if self.identity_type is not None:
            self.identity_type = chosen("identity_type", self.identity_type, IDENTITIES)
        if self.identity_type == "UserAssigned" and not self.identity_ids:
            raise ComputeTargetException("identity_type='UserAssigned' needs identity_ids, the list of the identities.")

    def to_dict(self) -> dict[str, Any]:
        return {
            "resourceId": self.resource_id,
            "properties": {"namespace": self.namespace or "default"},
            "identity": {"type": self.identity_type, "ids": list(self.identity_ids or ())},
        }


@dataclass
class KubernetesComputeStatus:
    """The result of `KubernetesCompute.get_status()`."""

    creation_time: str | None
    modified_time: str | None
    provisioning_state: str | None

    def serialize(self) -> dict[str, Any]:
        return {
            "creationTime": self.creation_time,
            "modifiedTime": self.modified_time,
            "provisioningState": self.provisioning_state,
        }

    @staticmethod
    def deserialize(object_dict: Mapping[str, Any] | None) -> KubernetesComputeStatus | None:
        if object_dict is None:
            return None
        return KubernetesComputeStatus(
            object_dict.get("creationTime"), object_dict.get("modifiedTime"), object_dict.get("provisioningState")
        )


class KubernetesCompute(ComputeTarget):
    """A Kubernetes cluster. None can be attached, so none is found either."""

    _compute_type = "Kubernetes"

    @staticmethod
    def attach_configuration(
        resource_id: str | None = None,
        namespace: str | None = None,
        identity_type: str | None = None,
        identity_ids: Sequence[str] | None = None,
    ) -> KubernetesComputeAttachConfiguration:
        """The checked settings. Attaching them is refused."""
        return KubernetesComputeAttachConfiguration(resource_id, namespace, identity_type, identity_ids)
