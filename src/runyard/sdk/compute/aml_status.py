"""The status of an AmlCompute, as objects of SDK v1: node counts, allocation, scale settings."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Mapping

from runyard.contracts.compute import IDLE, LEAVING, PREEMPTED, PREPARING, RUNNING, UNUSABLE
from runyard.sdk.compute.documents import duration, seconds

if TYPE_CHECKING:
    from runyard.contracts.documents import ComputeDocument


@dataclass
class ScaleSettings:
    """The limits of a target's nodes, and how long an idle one stays. No maximum: as many as the cluster has."""

    minimum_node_count: int
    maximum_node_count: int | None
    idle_seconds_before_scaledown: int

    def serialize(self) -> dict[str, Any]:
        return {
            "minNodeCount": self.minimum_node_count,
            "maxNodeCount": self.maximum_node_count,
            "nodeIdleTimeBeforeScaleDown": duration(self.idle_seconds_before_scaledown),
        }

    @staticmethod
    def deserialize(object_dict: Mapping[str, Any] | None) -> ScaleSettings | None:
        if object_dict is None:
            return None
        idle = seconds(object_dict.get("nodeIdleTimeBeforeScaleDown"))
        return ScaleSettings(object_dict.get("minNodeCount") or 0, object_dict.get("maxNodeCount"), idle)


@dataclass
class AmlComputeNodeStateCounts:
    """How many nodes are in which state."""

    idle_node_count: int
    leaving_node_count: int
    preempted_node_count: int
    preparing_node_count: int
    running_node_count: int
    unusable_node_count: int

    def serialize(self) -> dict[str, int]:
        return {_camel(name): count for name, count in asdict(self).items()}

    @staticmethod
    def deserialize(object_dict: Mapping[str, Any] | None) -> AmlComputeNodeStateCounts | None:
        if object_dict is None:
            return None
        names = AmlComputeNodeStateCounts.__dataclass_fields__
        return AmlComputeNodeStateCounts(**{name: object_dict.get(_camel(name)) or 0 for name in names})

    @staticmethod
    def _from_counts(counts: Mapping[str, int]) -> AmlComputeNodeStateCounts:
        order = (IDLE, LEAVING, PREEMPTED, PREPARING, RUNNING, UNUSABLE)
        return AmlComputeNodeStateCounts(*(counts.get(state, 0) for state in order))


@dataclass
class AmlComputeStatus:
    """The result of `AmlCompute.get_status()`. `errors` is None, or a list of `{"error": {"code", "message"}}`."""

    allocation_state: str | None
    allocation_state_transition_time: str | None
    creation_time: str | None
    current_node_count: int
    errors: list[dict[str, Any]] | None
    modified_time: str | None
    node_state_counts: AmlComputeNodeStateCounts | None
    provisioning_state: str
    provisioning_state_transition_time: str | None
    scale_settings: ScaleSettings | None
    target_node_count: int
    vm_priority: str
    vm_size: str

    def serialize(self) -> dict[str, Any]:
        return {
            "currentNodeCount": self.current_node_count,
            "targetNodeCount": self.target_node_count,
            "nodeStateCounts": self.node_state_counts.serialize() if self.node_state_counts else None,
            "allocationState": self.allocation_state,
            "allocationStateTransitionTime": self.allocation_state_transition_time,
            "errors": self.errors,
            "creationTime": self.creation_time,
            "modifiedTime": self.modified_time,
            "provisioningState": self.provisioning_state,
            "provisioningStateTransitionTime": self.provisioning_state_transition_time,
            "scaleSettings": self.scale_settings.serialize() if self.scale_settings else None,
            "vmPriority": self.vm_priority,
            "vmSize": self.vm_size,
        }

    @staticmethod
    def deserialize(object_dict: Mapping[str, Any] | None) -> AmlComputeStatus | None:
        if object_dict is None:
            return None
        return AmlComputeStatus(
            allocation_state=object_dict.get("allocationState"),
            allocation_state_transition_time=object_dict.get("allocationStateTransitionTime"),
            creation_time=object_dict.get("creationTime"),
            current_node_count=object_dict.get("currentNodeCount") or 0,
            errors=object_dict.get("errors"),
            modified_time=object_dict.get("modifiedTime"),
            node_state_counts=AmlComputeNodeStateCounts.deserialize(object_dict.get("nodeStateCounts")),
            provisioning_state=object_dict.get("provisioningState") or "",
            provisioning_state_transition_time=object_dict.get("provisioningStateTransitionTime"),
            scale_settings=ScaleSettings.deserialize(object_dict.get("scaleSettings")),
            target_node_count=object_dict.get("targetNodeCount") or 0,
            vm_priority=object_dict.get("vmPriority") or "",
            vm_size=object_dict.get("vmSize") or "",
        )

    @staticmethod
    def _from_document(document: ComputeDocument) -> AmlComputeStatus:
        """From the server's document of a target."""
        status = document["status"]
        return AmlComputeStatus(
            allocation_state=status["allocation_state"],
            allocation_state_transition_time=status["changed_at"] or None,
            creation_time=document["created_at"] or None,
            current_node_count=status["current_nodes"],
            errors=[{"error": dict(error)} for error in status["errors"]] or None,
            modified_time=document["modified_at"] or None,
            node_state_counts=AmlComputeNodeStateCounts._from_counts(status["counts"]),
            provisioning_state=document["provisioning_state"],
            provisioning_state_transition_time=None,
            scale_settings=scale_settings(document),
            target_node_count=status["target_nodes"],
            vm_priority=document["vm_priority"],
            vm_size=document["vm_size"],
        )


def scale_settings(document: ComputeDocument) -> ScaleSettings:
    return ScaleSettings(document["min_nodes"], document["max_nodes"], document["idle_seconds"])


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)
