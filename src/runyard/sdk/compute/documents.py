"""Compute targets on the wire and as dictionaries: the server's document, and what SDK v1's `serialize` looks like."""

from __future__ import annotations

import re
from typing import Any, Mapping, cast

from runyard.contracts.compute import LOCAL_ENGINE, NODE_STATES, STEADY, Status, Target
from runyard.contracts.documents import ComputeDocument
from runyard.sdk.exceptions import ComputeTargetException

OURS = "runyard"
"""The key for what SDK v1 has no field for."""


def sent(target: Target) -> dict[str, Any]:
    """A target as the server takes it: it sets the times itself."""
    return {name: value for name, value in target.as_dict().items() if name not in ("created_at", "modified_at")}


def serialized(document: ComputeDocument, id: str, location: str) -> dict[str, Any]:
    """SDK v1's form of a target."""
    details = document["details"]
    scale = {
        "minNodeCount": document["min_nodes"],
        "maxNodeCount": document["max_nodes"],
        "nodeIdleTimeBeforeScaleDown": duration(document["idle_seconds"]),
    }
    return {
        "id": id,
        "name": document["name"],
        "location": location,
        "tags": dict(details.get("tags") or {}),
        "properties": {
            "computeType": document["type"],
            "computeLocation": location,
            "description": details.get("description"),
            "resourceId": None,
            "createdOn": document["created_at"],
            "modifiedOn": document["modified_at"],
            "provisioningState": document["provisioning_state"],
            "provisioningErrors": [{"error": dict(error)} for error in document["status"]["errors"]] or None,
            "properties": {
                "vmSize": document["vm_size"],
                "vmPriority": document["vm_priority"],
                "scaleSettings": scale,
                OURS: {
                    "engine": document["engine"],
                    "options": dict(document["options"]),
                    "details": dict(details),
                    "status": dict(document["status"]),
                },
            },
        },
    }


def document_of(document: Mapping[str, Any]) -> ComputeDocument:
    """The inverse of `serialized`. A dictionary without a required key is refused."""
    try:
        outer = document["properties"]
        inner = outer.get("properties") or {}
        ours = inner.get(OURS) or {}
        scale = inner.get("scaleSettings") or {}
        details = {**(ours.get("details") or {})}
        for name, value in (("tags", document.get("tags")), ("description", outer.get("description"))):
            if value:
                details[name] = value
        target = Target(
            name=str(document["name"]),
            type=str(outer["computeType"]),
            engine=ours.get("engine") or LOCAL_ENGINE,
            vm_size=inner.get("vmSize") or "",
            vm_priority=inner.get("vmPriority") or Target.vm_priority,
            min_nodes=scale.get("minNodeCount") or 0,
            max_nodes=scale.get("maxNodeCount"),
            idle_seconds=seconds(scale.get("nodeIdleTimeBeforeScaleDown")),
            options=dict(ours.get("options") or {}),
            details=details,
            created_at=outer.get("createdOn") or "",
            modified_at=outer.get("modifiedOn") or "",
        )
    except (AttributeError, KeyError, TypeError) as error:
        raise ComputeTargetException(
            f"This is no compute target as serialize() tells of one: {error!r} is missing or has another form."
        ) from None
    status = ours.get("status") or Status(STEADY, counts=dict.fromkeys(NODE_STATES, 0)).as_dict()
    more = {"status": status, "provisioning_state": outer.get("provisioningState") or "Succeeded"}
    return cast("ComputeDocument", {**target.as_dict(), **more})


def duration(seconds: int) -> str:
    """A time span as SDK v1 writes it.

    >>> duration(1800)
    'PT1800S'
    """
    return f"PT{seconds}S"


def seconds(span: str | int | None) -> int:
    """The inverse of `duration`; other ISO 8601 forms are read as well.

    >>> seconds("PT1800S"), seconds("PT30M"), seconds("P1DT2H"), seconds(None)
    (1800, 1800, 93600, 1800)
    """
    if span is None:
        return Target.idle_seconds
    if isinstance(span, int):
        return span
    found = re.fullmatch(r"P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:\.\d+)?S)?)?", span)
    if found is None or span in ("P", "PT"):
        raise ComputeTargetException(f"{span!r} is no time span: it looks like PT1800S or PT30M.")
    return sum(int(part or 0) * unit for part, unit in zip(found.groups(), (86400, 3600, 60, 1)))
