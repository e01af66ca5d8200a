"""Where a run is to take place, as an object. So far there is one place: this machine."""

from __future__ import annotations

from typing import Any, Mapping

from runyard.sdk.exceptions import ComputeTargetException


class AbstractComputeTarget:
    """A compute target with a type and a name."""

    def __init__(self, compute_target_type: str, name: str) -> None:
        self._type = compute_target_type
        self._name = name

    @property
    def type(self) -> str:
        return self._type

    @property
    def name(self) -> str:
        return self._name

    @staticmethod
    def deserialize_from_dict(
        compute_target_name: str, compute_target_dict: Mapping[str, Any]
    ) -> AbstractComputeTarget:
        """The target that a dictionary with a `type` tells of."""
        kind = compute_target_dict.get("type")
        if kind != LocalTarget.TYPE:
            raise ComputeTargetException(
                f"The compute target {compute_target_name!r} is of type {kind!r}. "
                f"This version of Runyard knows only {LocalTarget.TYPE!r}."
            )
        return LocalTarget()

    def __repr__(self) -> str:
        return f"{type(self).__name__}(name={self._name!r}, type={self._type!r})"


class LocalTarget(AbstractComputeTarget):
    """The machine that the server runs on."""

    TYPE = "local"

    def __init__(self) -> None:
        super().__init__(self.TYPE, "local")
