"""Services as dictionaries: what SDK v1's `serialize` looks like, made from the server's document and read back."""

from __future__ import annotations

from typing import Any, Mapping

from runyard.sdk.exceptions import WebserviceException
from runyard.sdk.webservice.wire import Document

OURS = "runyard"
"""The key of the server's own document."""

_KINDS = {"ACI": "aci", "AKS": "aks", "AKSENDPOINT": "endpoint", "LOCAL": "local"}


def serialized(document: Document, compute_type: str) -> dict[str, Any]:
    """SDK v1's form of a service."""
    settings = document.get("settings") or {}
    revisions = document.get("revisions") or []
    current: Document = next((each for each in revisions if each["number"] == document.get("revision")), {})
    told: dict[str, Any] = {
        "id": document.get("id"),
        "name": document["name"],
        "computeType": compute_type,
        "state": document["state"],
        "error": document.get("error"),
        "createdTime": document.get("created_at"),
        "updatedTime": document.get("updated_at"),
        "description": document.get("description"),
        "tags": dict(document.get("tags") or {}),
        "properties": dict(document.get("properties") or {}),
        "authEnabled": settings.get("authentication") == "key",
        "aadAuthEnabled": settings.get("authentication") == "token",
        "scoringUri": document.get("scoring_uri"),
        "swaggerUri": document.get("swagger_uri"),
        "models": list(current.get("models") or ()),
        "environmentDetails": current.get("environment"),
        "containerResourceRequirements": {"cpu": settings.get("cpu"), "memoryInGB": settings.get("memory_gb")},
        "computeName": document.get("compute_target"),
        "imageId": None,
        "location": "local",
        "appInsightsEnabled": False,
        "sslEnabled": False,
        OURS: document,
    }
    if compute_type in ("AKS", "AKSENDPOINT"):
        told.update(_of_aks(settings))
    return told


def _of_aks(settings: Mapping[str, Any]) -> dict[str, Any]:
    scale, probes = settings.get("autoscale") or {}, settings.get("probes") or {}
    return {
        "numReplicas": settings.get("replicas"),
        "maxConcurrentRequestsPerContainer": settings.get("concurrency"),
        "maxQueueWaitMs": settings.get("queue_wait_ms"),
        "scoringTimeoutMs": settings.get("scoring_timeout_ms"),
        "autoScaler": {
            "autoscaleEnabled": scale.get("enabled"),
            "minReplicas": scale.get("min"),
            "maxReplicas": scale.get("max"),
            "refreshPeriodInSeconds": scale.get("refresh_seconds"),
            "targetUtilization": scale.get("target_utilization"),
        },
        "livenessProbeRequirements": {
            "periodSeconds": probes.get("period_seconds"),
            "initialDelaySeconds": probes.get("initial_delay_seconds"),
            "timeoutSeconds": probes.get("timeout_seconds"),
            "successThreshold": probes.get("success_threshold"),
            "failureThreshold": probes.get("failure_threshold"),
        },
    }


def document_of(told: Mapping[str, Any]) -> Document:
    """What `serialized` was made from, with what was changed in SDK v1's part of it. Refused when it lacks its name."""
    if not isinstance(told, Mapping):
        raise WebserviceException(f"A service is read from a dict, not from a {type(told).__name__}.")
    missing = [key for key in ("name", "computeType", "state") if not told.get(key)]
    if missing:
        raise WebserviceException(f"This is no service as serialize() tells of one: it lacks {', '.join(missing)}.")
    ours = told.get(OURS)
    document: Document = dict(ours) if isinstance(ours, Mapping) else {"settings": {}, "revisions": []}
    document.update(
        name=str(told["name"]),
        kind=document.get("kind") or _KINDS.get(str(told["computeType"]).upper(), ""),
        state=str(told["state"]),
        error=told.get("error"),
        created_at=told.get("createdTime"),
        updated_at=told.get("updatedTime"),
        description=told.get("description"),
        tags=dict(told.get("tags") or {}),
        properties=dict(told.get("properties") or {}),
        scoring_uri=told.get("scoringUri"),
        swagger_uri=told.get("swaggerUri"),
    )
    return document
