"""The JSON that the API sends: rows of the store in the shapes of docs/protocol.md."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from typing import Any

import orjson
from starlette.datastructures import URL
from starlette.responses import Response

from runyard.contracts import curated
from runyard.contracts.history import LOG_PREFIXES
from runyard.server.context import ServerContext
from runyard.server.middleware.auth import view_key
from runyard.store.assets.environment_maps import EnvironmentMap
from runyard.store.assets.environments import Environment
from runyard.store.assets.models import Model
from runyard.store.content.deletion import Freed
from runyard.store.content.files import FileEntry
from runyard.store.content.wheels import Wheel
from runyard.store.runs.experiments import Experiment
from runyard.store.runs.runs import Run, StateChange
from runyard.store.runs.workspaces import Workspace

Json = dict[str, Any]


def answer(value: Mapping[str, Any], status: int = 200) -> Response:
    try:
        body = orjson.dumps(value)
    except orjson.JSONEncodeError:  # a lone surrogate or a number beyond 64 bits, which JSON can hold all the same
        body = json.dumps(value, allow_nan=False).encode("ascii")
    return Response(body, status, media_type="application/json")


def timestamp(at: datetime | None) -> str | None:
    """ISO 8601 in UTC, always with microseconds, so that every reader can take it apart in one way."""
    return None if at is None else at.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def workspace(row: Workspace) -> Json:
    return {
        "name": row.name,
        "id": row.id,
        "subscription_id": row.subscription_id,
        "resource_group": row.resource_group,
        "location": row.location,
        "friendly_name": row.friendly_name,
        "description": row.description,
        "tags": row.tags,
        "created_at": timestamp(row.created_at),
    }


def experiment(row: Experiment) -> Json:
    return {
        "id": row.id,
        "workspace": row.workspace,
        "name": row.name,
        "tags": row.tags,
        "created_at": timestamp(row.created_at),
        "archived_at": timestamp(row.archived_at),
    }


def environment(row: Environment) -> Json:
    return {
        "name": row.name,
        "version": row.version,
        "definition": row.definition,
        "labels": row.labels,
        "created_at": timestamp(row.created_at),
        "curated": False,
    }


def curated_environment(found: curated.Curated) -> Json:
    return {
        "name": found.name,
        "version": curated.VERSION,
        "definition": found.definition,
        "labels": [],
        "created_at": None,
        "curated": True,
    }


def environment_map(row: EnvironmentMap) -> Json:
    return {"pattern": row.pattern, "interpreter": row.interpreter, "definition": row.definition}


def model(row: Model) -> Json:
    details, content = row.details, row.content
    return {
        "name": row.name,
        "version": row.version,
        "id": row.id,
        "workspace": row.workspace,
        "framework": details.framework,
        "framework_version": details.framework_version,
        "resource_configuration": details.resource_configuration,
        "tags": details.tags,
        "properties": details.properties,
        "description": details.description,
        "created_at": timestamp(row.created_at),
        "created_by": details.created_by,
        "run_id": row.run_id,
        "experiment": row.experiment,
        "datasets": details.datasets,
        "sample_input_dataset": details.sample_input_dataset,
        "sample_output_dataset": details.sample_output_dataset,
        "size": content.size,
        "files": content.files,
        "tree": content.tree,
        "root": content.root,
        "unpack": content.folder,
        "services": row.services,
    }


def wheel(row: Wheel) -> Json:
    return {"name": row.name, "digest": row.digest, "size": row.size, "address": row.address}


def run(row: Run, context: ServerContext, base: URL) -> Json:
    """`base` is the address under which the caller knows the server: the link must work for them."""
    row = context.scheduler.seen(row)
    return {
        "id": row.id,
        "number": row.number,
        "workspace": row.workspace,
        "experiment": row.experiment,
        "experiment_id": row.experiment_id,
        "parent_id": row.parent_id,
        "root_id": row.root_id,
        "type": row.type,
        "name": row.name,
        "display_name": row.display_name,
        "description": row.description,
        "status": row.status,
        "reason": row.reason,
        "target": row.target,
        "nodes": row.nodes,
        "attempt": row.attempt,
        "created_at": timestamp(row.created_at),
        "started_at": timestamp(row.started_at),
        "ended_at": timestamp(row.ended_at),
        "tags": row.tags,
        "properties": row.properties,
        "submitted_by": row.submitted_by,
        "snapshot_id": row.snapshot_id,
        "error": row.error,
        "warnings": row.warnings,
        "archived_at": timestamp(row.archived_at),
        "web_url": f"{base}runs/{row.id}?key={view_key(context.settings.secret, row.id)}",
    }


def without_variables(document: Json) -> Json:
    """A definition or a launch without the environment variables in it: they are where secrets are handed to a run, so
    that runs do not see those of one another."""
    shown = {key: {} if key in _VARIABLES else value for key, value in document.items()}
    environment = shown.get("environment")
    return {**shown, "environment": without_variables(environment)} if isinstance(environment, dict) else shown


_VARIABLES = ("environmentVariables", "environment_variables")


def state(change: StateChange) -> Json:
    return {"status": change.status, "at": timestamp(change.at), "reason": change.reason}


def file(entry: FileEntry) -> Json:
    return {
        "name": entry.name,
        "size": entry.size,
        "hash": entry.digest,
        "growing": entry.growing is not None,
        "updated_at": timestamp(entry.updated_at),
    }


def freed(row: Freed) -> Json:
    return {
        "runs": row.runs,
        "experiments": row.experiments,
        "objects": row.objects,
        "bytes_freed": row.bytes_freed,
    }


def logs(entries: Sequence[FileEntry]) -> list[FileEntry]:
    """Those files of a run that are logs."""
    return [entry for entry in entries if entry.name.startswith(LOG_PREFIXES)]
