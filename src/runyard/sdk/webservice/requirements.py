"""The small parts of a service that SDK v1 has classes for: resources, scaling, probes, collection of data."""

from __future__ import annotations

from typing import Any, ClassVar, Mapping, TypeVar

from runyard.sdk.exceptions import WebserviceException
from runyard.system.records import fields, record

P = TypeVar("P", bound="_Part")


class _Part:
    """A part with a dictionary form. Each class names the keys of its fields."""

    _keys: ClassVar[Mapping[str, str]] = {}

    def serialize(self) -> dict[str, Any]:
        """The part as a dictionary, ready for JSON."""
        return {key: getattr(self, name) for name, key in self._keys.items()}

    @classmethod
    def _read(cls: type[P], payload: Mapping[str, Any] | None) -> P | None:
        if payload is None:
            return None
        if not isinstance(payload, Mapping):
            raise WebserviceException(f"{cls.__name__} is read from a dict, not from a {type(payload).__name__}.")
        return cls(**{each.name: payload.get(cls._keys[each.name]) for each in fields(cls)})


@record()
class ContainerResourceRequirements(_Part):
    """The cores and the gigabytes that one replica of a service may use. None leaves a number open.

    >>> ContainerResourceRequirements(1, 0.5).serialize()["memoryInGB"]
    0.5
    """

    cpu: float | None
    memory_in_gb: float | None
    gpu: int | None = None
    cpu_limit: float | None = None
    memory_in_gb_limit: float | None = None

    _keys: ClassVar[Mapping[str, str]] = {
        "cpu": "cpu",
        "cpu_limit": "cpuLimit",
        "memory_in_gb": "memoryInGB",
        "memory_in_gb_limit": "memoryInGBLimit",
        "gpu": "gpu",
    }

    @staticmethod
    def deserialize(payload_obj: Mapping[str, Any] | None) -> ContainerResourceRequirements | None:
        """The inverse of `serialize`; None stays None."""
        return ContainerResourceRequirements._read(payload_obj)


@record()
class AutoScaler(_Part):
    """Between which numbers of replicas a service grows and shrinks, and when."""

    autoscale_enabled: bool | None
    max_replicas: int | None
    min_replicas: int | None
    refresh_period_seconds: int | None
    target_utilization: int | None

    _keys: ClassVar[Mapping[str, str]] = {
        "autoscale_enabled": "autoscaleEnabled",
        "max_replicas": "maxReplicas",
        "min_replicas": "minReplicas",
        "refresh_period_seconds": "refreshPeriodInSeconds",
        "target_utilization": "targetUtilization",
    }

    @staticmethod
    def deserialize(payload_obj: Mapping[str, Any] | None) -> AutoScaler | None:
        """The inverse of `serialize`; None stays None."""
        return AutoScaler._read(payload_obj)


@record()
class LivenessProbeRequirements(_Part):
    """How often, and how patiently, a service is asked whether it lives."""

    period_seconds: int | None
    initial_delay_seconds: int | None
    timeout_seconds: int | None
    success_threshold: int | None
    failure_threshold: int | None

    _keys: ClassVar[Mapping[str, str]] = {
        "period_seconds": "periodSeconds",
        "initial_delay_seconds": "initialDelaySeconds",
        "timeout_seconds": "timeoutSeconds",
        "success_threshold": "successThreshold",
        "failure_threshold": "failureThreshold",
    }

    @staticmethod
    def deserialize(payload_obj: Mapping[str, Any] | None) -> LivenessProbeRequirements | None:
        """The inverse of `serialize`; None stays None."""
        return LivenessProbeRequirements._read(payload_obj)


@record()
class DataCollection(_Part):
    """Whether what a service was sent is collected. Nothing is, here: the fields are kept for code that reads them."""

    event_hub_enabled: bool | None
    storage_enabled: bool | None

    _keys: ClassVar[Mapping[str, str]] = {"event_hub_enabled": "eventHubEnabled", "storage_enabled": "storageEnabled"}

    @staticmethod
    def deserialize(payload_obj: Mapping[str, Any] | None) -> DataCollection | None:
        """The inverse of `serialize`; None stays None."""
        return DataCollection._read(payload_obj)
