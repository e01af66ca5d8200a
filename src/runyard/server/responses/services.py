"""The JSON of a service: itself, its revisions and its replicas."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from typing import Any

from runyard.contracts.services import states
from runyard.contracts.services.worker import is_loopback
from runyard.server.responses.documents import timestamp
from runyard.store.assets.services import Replica, Revision, Service

Json = dict[str, Any]


def service(row: Service, revisions: Sequence[Revision], replicas: Sequence[Replica]) -> Json:
    address = base_address(row)
    versions = {each.name: each for each in row.versions}
    current = next((each for each in row.versions if each.is_default), row.versions[0] if row.versions else None)
    return {
        "name": row.name,
        "id": row.id,
        "workspace": row.workspace,
        "kind": row.kind,
        "state": row.state,
        "error": row.error,
        "scoring_uri": f"{address}/score",
        "swagger_uri": f"{address}/swagger.json",
        "port": row.port,
        "revision": None if current is None else current.current or current.wanted,
        "revisions": [_revision(each, versions.get(each.version)) for each in revisions],
        "definition": _definition(revisions, None if current is None else current.current or current.wanted),
        "versions": [
            {
                "name": each.name,
                "revision": each.current or each.wanted,
                "traffic": each.traffic,
                "default": each.is_default,
                "control": each.is_control,
                "replicas": each.replicas,
            }
            for each in row.versions
            if each.name
        ],
        "replicas": [_replica(each) for each in replicas if each.state != states.GONE],
        "settings": row.settings.as_dict(),
        "tags": row.tags,
        "properties": row.properties,
        "description": row.description,
        "compute_target": row.compute_target,
        "created_at": timestamp(row.created_at),
        "updated_at": timestamp(row.updated_at),
        "operation": {key: row.operation.get(key) for key in ("id", "state", "steps", "error")},
    }


def base_address(row: Service) -> str:
    host = "localhost" if is_loopback(row.settings.host) else row.settings.host
    if host in ("0.0.0.0", "::"):
        host = socket.gethostname()
    return f"http://{f'[{host}]' if ':' in host else host}:{row.port}"


def _revision(row: Revision, version: Any) -> Json:
    found: Json = {
        "number": row.number,
        "state": row.state,
        "created_at": timestamp(row.created_at),
        "models": [each["id"] for each in row.models],
        "entry_script": row.launch.get("entry_script"),
        "environment": (row.launch.get("environment") or {}).get("name") or "",
        "snapshot_id": row.snapshot_id,
        "settings": row.settings.as_dict(),
        "reason": row.reason,
    }
    if row.version:
        found["version_name"] = row.version
        if version is not None:
            found |= {"traffic": version.traffic, "default": version.is_default, "control": version.is_control}
    return found


def _definition(revisions: Sequence[Revision], number: int | None) -> Json | None:
    """The environment that is in use, in the form of SDK v1; None where none was asked for."""
    return next((each.launch.get("definition") or None for each in revisions if each.number == number), None)


def _replica(row: Replica) -> Json:
    return {
        "run_id": row.run_id,
        "revision": row.revision,
        "version_name": row.version,
        "role": row.role,
        "state": row.state,
        "restarts": row.seen.get("restarts", 0),
        "pid": row.seen.get("pid"),
        "memory": row.seen.get("memory"),
        "error": row.seen.get("error"),
        "status": row.status,
        "reason": row.reason,
    }
