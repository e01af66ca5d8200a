"""The resources that something needs."""

from __future__ import annotations

from typing import Any, Mapping

from runyard.sdk.exceptions import WebserviceException


class ResourceConfiguration:
    """Cores, gigabytes and GPUs that a model needs to be served. None leaves a number open.

    >>> ResourceConfiguration(cpu=1, memory_in_gb=0.5).serialize()
    {'cpu': 1, 'memoryInGB': 0.5, 'gpu': None}
    """

    def __init__(self, cpu: float | None = None, memory_in_gb: float | None = None, gpu: int | None = None) -> None:
        for name, amount in (("cpu", cpu), ("memory_in_gb", memory_in_gb), ("gpu", gpu)):
            if amount is not None and amount <= 0:
                raise WebserviceException(f"{name} must be more than 0, not {amount!r}. Leave it out to ask for none.")
        self.cpu = cpu
        self.memory_in_gb = memory_in_gb
        self.gpu = gpu

    def serialize(self) -> dict[str, Any]:
        return {"cpu": self.cpu, "memoryInGB": self.memory_in_gb, "gpu": self.gpu}

    @staticmethod
    def deserialize(payload_obj: Mapping[str, Any] | None) -> ResourceConfiguration | None:
        """The inverse of `serialize`; None stays None."""
        if payload_obj is None:
            return None
        return ResourceConfiguration(payload_obj.get("cpu"), payload_obj.get("memoryInGB"), payload_obj.get("gpu"))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ResourceConfiguration) and self.serialize() == other.serialize()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"ResourceConfiguration(cpu={self.cpu}, memory_in_gb={self.memory_in_gb}, gpu={self.gpu})"
