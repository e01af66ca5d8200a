"""Routes of services: making, changing, scaling and removing them, their keys and their logs.

The routes store what is wanted; the scheduler brings it about, and `operation` says how far it is.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.concurrency import run_in_threadpool
from starlette.responses import PlainTextResponse, Response

from runyard.contracts.services import states
from runyard.server.api.assets import service_logs
from runyard.server.context import Context, ServerContext
from runyard.server.middleware.auth import User
from runyard.server.middleware.reach import Within
from runyard.server.requests import service_changes, service_keys, service_versions
from runyard.server.requests.labels import pairs
from runyard.server.requests.service import KeyRequest, RevisionRequest, ScaleRequest, ServiceRequest, VersionRequest
from runyard.server.responses import services as documents
from runyard.server.responses.documents import answer
from runyard.store.assets import services
from runyard.store.assets.services import Service

router = APIRouter(prefix="/api/workspaces/{workspace}/services", tags=["services"])

LONGEST_WAIT = 60.0
LOOK_EVERY = 0.1

Json = dict[str, Any]


@router.get("", summary="The services of a workspace")
def find(
    workspace: Within,
    context: Context,
    kind: str | None = None,
    model: Annotated[str | None, Query(description="a model, or one version of it: `name:version`")] = None,
    tag: Annotated[list[str], Query(description="`key` or `key=value`")] = [],  # noqa: B006
) -> Response:
    wanted = pairs(tag)
    with context.store.database.read() as connection:
        found = []
        for row in services.find(connection, workspace):
            tagged = all(key in row.tags and value in (None, row.tags[key]) for key, value in wanted)
            if (kind is None or row.kind == kind) and tagged:
                document = documents.service(
                    row, services.revisions(connection, row), services.replicas(connection, row)
                )
                if model is None or _serves(row, document, model):
                    found.append(document)
    return answer({"services": found})


@router.post("", status_code=202, summary="Deploy a service", dependencies=[User])
def create(workspace: str, body: ServiceRequest, context: Context) -> Response:
    return _shown(context, service_changes.deploy(context, workspace, body), 202)


@router.get("/{name}", summary="One service with all that is known of it")
async def get(
    workspace: Within,
    name: str,
    context: Context,
    wait: Annotated[
        float, Query(ge=0, le=LONGEST_WAIT, description="seconds to wait until what is being done to it has ended")
    ] = 0,
    state: Annotated[str | None, Query(description="wait until it has this state instead")] = None,
) -> Response:
    def done(row: Service) -> bool:
        return row.state == state if state is not None else row.operation["state"] != states.RUNNING

    row = await _awaited(context, workspace, name, wait, done)
    return await run_in_threadpool(_shown, context, row)


@router.patch("/{name}", summary="Change a service", dependencies=[User])
def update(workspace: str, name: str, body: RevisionRequest, context: Context) -> Response:
    return _shown(context, service_changes.change(context, workspace, name, body))


@router.delete("/{name}", summary="Stop a service and remove it, its revisions and its logs", dependencies=[User])
async def delete(workspace: str, name: str, context: Context) -> Response:
    row = await run_in_threadpool(service_changes.remove, context, workspace, name)
    document = await run_in_threadpool(_document, context, row)
    deadline = time.monotonic() + LONGEST_WAIT
    while await run_in_threadpool(_is_there, context, row.id) and time.monotonic() < deadline:
        await asyncio.sleep(LOOK_EVERY)
    return answer(document)


@router.get("/{name}/logs", summary="What a service has written", response_class=PlainTextResponse)
async def logs(
    workspace: Within,
    name: str,
    context: Context,
    tail: Annotated[int, Query(ge=1, le=1_000_000, description="lines")] = 5000,
    revision: int | None = None,
    init: Annotated[bool, Query(description="how the environment was made, instead")] = False,
) -> Response:
    row, live = await run_in_threadpool(service_logs.live_replicas, context.store, workspace, name)
    for run_id in live:
        await context.pace.look(run_id)
    text = await run_in_threadpool(service_logs.text, context.store, row, tail, revision, init)
    return PlainTextResponse(text)


@router.get("/{name}/keys", summary="The keys of a service", dependencies=[User])
def keys(workspace: str, name: str, context: Context) -> Response:
    return answer(service_keys.keys(context, workspace, name))


@router.post("/{name}/keys", summary="Replace one key of a service", dependencies=[User])
def renew_key(workspace: str, name: str, body: KeyRequest, context: Context) -> Response:
    return answer(service_keys.renew_key(context, workspace, name, body))


@router.post("/{name}/token", summary="A token for a service, which expires", dependencies=[User])
def token(workspace: str, name: str, context: Context) -> Response:
    return answer(service_keys.token(context, workspace, name))


@router.post("/{name}/scale", summary="Give a service so many replicas", dependencies=[User])
def scale(workspace: str, name: str, body: ScaleRequest, context: Context) -> Response:
    return _shown(context, service_changes.scale(context, workspace, name, body.replicas))


@router.post("/{name}/rollback", summary="Go back to the revision before", dependencies=[User])
def rollback(workspace: str, name: str, context: Context) -> Response:
    return _shown(context, service_changes.roll_back(context, workspace, name))


@router.post("/{name}/versions/{version}", status_code=202, summary="Add a version to an endpoint", dependencies=[User])
def add_version(workspace: str, name: str, version: str, body: VersionRequest, context: Context) -> Response:
    return _shown(context, service_versions.add_version(context, workspace, name, version, body), 202)


@router.patch("/{name}/versions/{version}", summary="Change a version of an endpoint", dependencies=[User])
def update_version(workspace: str, name: str, version: str, body: VersionRequest, context: Context) -> Response:
    return _shown(context, service_versions.change_version(context, workspace, name, version, body))


@router.delete("/{name}/versions/{version}", summary="Remove a version of an endpoint", dependencies=[User])
def delete_version(workspace: str, name: str, version: str, context: Context) -> Response:
    return _shown(context, service_versions.remove_version(context, workspace, name, version))


async def _awaited(
    context: ServerContext, workspace: str, name: str, seconds: float, done: Callable[[Service], bool]
) -> Service:
    def read() -> Service:
        with context.store.database.read() as connection:
            return services.get(connection, workspace, name)

    deadline = time.monotonic() + seconds
    row = await run_in_threadpool(read)
    while not done(row) and time.monotonic() < deadline:
        await asyncio.sleep(LOOK_EVERY)
        row = await run_in_threadpool(read)
    return row


def _is_there(context: ServerContext, id: str) -> bool:
    with context.store.database.read() as connection:
        return services.by_id(connection, id) is not None


def _document(context: ServerContext, row: Service) -> Json:
    with context.store.database.read() as connection:
        return documents.service(row, services.revisions(connection, row), services.replicas(connection, row))


def _shown(context: ServerContext, row: Service, status: int = 200) -> Response:
    return answer(_document(context, row), status)


def _serves(row: Service, document: Json, model: str) -> bool:
    """Whether a service has a revision in use with a model, or with a version of it."""
    numbers = {number for each in row.versions for number in (each.current, each.wanted)}
    ids = [id for each in document["revisions"] if each["number"] in numbers for id in each["models"]]
    return any(model in (id, id.rpartition(":")[0]) for id in ids)
