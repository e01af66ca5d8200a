"""Routes of models: registering, finding, changing and deleting versions. Their files are fetched as a snapshot's are.

A run's token registers models in its own workspace and reads those that are there; it deletes none.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Header, Query
from fastapi import Path as PathValue
from starlette.concurrency import run_in_threadpool
from starlette.responses import PlainTextResponse, Response, StreamingResponse

from runyard.server.context import Context, ServerContext
from runyard.server.middleware import reach
from runyard.server.middleware.auth import AnyCaller, User
from runyard.server.middleware.reach import Within
from runyard.server.requests import model as model_request
from runyard.server.requests.labels import pairs
from runyard.server.requests.model import ModelChange, ModelRequest
from runyard.server.responses import documents
from runyard.server.responses.documents import Json, answer
from runyard.server.responses.downloads import file_response
from runyard.server.threads import in_writer_thread
from runyard.store.assets import model_content, models
from runyard.store.assets.models import Model, ModelFilter
from runyard.store.content import snapshots

router = APIRouter(prefix="/api/workspaces/{workspace}/models", tags=["models"])

LATEST = "latest"

Version = Annotated[
    str, PathValue(pattern="^([1-9][0-9]{0,17}|latest)$", description="a number, or `latest`: the newest there is")
]
ExactVersion = Annotated[int, PathValue(ge=1, lt=10**18)]


@router.get("", summary="Find models, newest first")
def find(
    workspace: Within,
    context: Context,
    name: str | None = None,
    run_id: str | None = None,
    framework: str | None = None,
    dataset: Annotated[str | None, Query(description="the id of a dataset that the model names")] = None,
    tag: Annotated[list[str], Query(description="`key` or `key=value`")] = [],  # noqa: B006
    property: Annotated[list[str], Query(description="`key` or `key=value`")] = [],  # noqa: B006
    latest: Annotated[bool, Query(description="the newest version of each name alone")] = False,
    limit: Annotated[int, Query(ge=1, le=1000)] = 255,
    after: Annotated[int | None, Query(ge=1, le=2**62, description="`next` of the former answer")] = None,
) -> Response:
    wanted = ModelFilter(name, run_id, framework, dataset, pairs(tag), pairs(property), latest)
    with context.store.database.read() as connection:
        found, following = models.find(connection, workspace, wanted, limit, after)
    return answer({"models": [documents.model(each) for each in found], "next": following})


@router.post("", status_code=201, summary="Register files as the next version of a model")
async def register(workspace: Within, body: ModelRequest, caller: AnyCaller, context: Context) -> Response:
    if body.run_id is not None:
        await run_in_threadpool(reach.must_read, context, caller, body.run_id)
        await context.pace.look(body.run_id)  # what it has by now is delivered before it is registered
    return answer(await in_writer_thread(_register, context, workspace, body, caller.run_id), 201)


@router.get("/{name}/{version}", summary="One version of a model")
def get(workspace: Within, name: str, version: Version, context: Context) -> Response:
    return answer(documents.model(version_of(context, workspace, name, version)))


@router.get("/{name}/{version}/manifest", summary="The files of a version, by hash", response_class=PlainTextResponse)
def manifest(workspace: Within, name: str, version: Version, context: Context) -> Response:
    found = version_of(context, workspace, name, version)
    with context.store.database.read() as connection:
        return PlainTextResponse(snapshots.manifest_text(connection, found.content.tree))


@router.get(
    "/{name}/{version}/files/{path:file}",
    summary="The bytes of a file of a version, or a range of them",
    response_class=StreamingResponse,
)
def file(
    workspace: Within,
    name: str,
    version: Version,
    path: str,
    context: Context,
    range: Annotated[str | None, Header()] = None,
) -> Response:
    return file_of(context, workspace, name, version, path, range)


@router.patch("/{name}/{version}", summary="Change the tags or the description of a version, or add properties")
def update(workspace: Within, name: str, version: Version, body: ModelChange, context: Context) -> Response:
    with context.store.database.write() as connection:
        return answer(documents.model(model_request.change(connection, workspace, name, _number(version), body)))


@router.delete("/{name}/{version}", summary="Delete a version for good", dependencies=[User])
def delete(workspace: str, name: str, version: ExactVersion, context: Context) -> Response:
    return answer(documents.freed(models.remove(context.store, workspace, name, version)))


def _register(context: ServerContext, workspace: str, body: ModelRequest, by: str | None) -> Json:
    with context.store.database.write() as connection:
        return documents.model(model_request.register(connection, workspace, body, by))


def file_of(context: ServerContext, workspace: str, name: str, version: str, path: str, range: str | None) -> Response:
    """The answer with a file of a version, or with the range of it that was asked for."""
    found = version_of(context, workspace, name, version)
    with context.store.database.read() as connection:
        entry = model_content.entry(connection, found.content.tree, path)
    return file_response(context.store.objects.open(entry.digest), entry.size, path, range, entry.digest)


def version_of(context: ServerContext, workspace: str, name: str, version: str) -> Model:
    """A version by its number, or the latest."""
    with context.store.database.read() as connection:
        return models.get(connection, workspace, name, _number(version))


def _number(version: str) -> int | None:
    return None if version == LATEST else int(version)
