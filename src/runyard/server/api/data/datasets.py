"""Routes of datasets: saving, registering and finding definitions, and the files that they mean.

A run's token reads the datasets of its own workspace, also where runs do not look beyond themselves: they are inputs.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Header, Query
from fastapi import Path as PathValue
from pydantic import BaseModel, ConfigDict, JsonValue
from starlette.requests import Request
from starlette.responses import Response

from runyard.contracts.data import datasets as contract
from runyard.scheduler.plans import mount_python
from runyard.server.context import Context, ServerContext
from runyard.server.data import listing
from runyard.server.data.opening import places
from runyard.server.middleware import reach
from runyard.server.middleware.auth import AnyCaller, Caller, User, not_allowed
from runyard.server.middleware.problems import Problem
from runyard.server.middleware.reach import Within
from runyard.server.requests.exact import exact
from runyard.server.responses import paused
from runyard.server.responses.documents import Json, answer, timestamp
from runyard.server.responses.downloads import file_response, opened, ranged_response
from runyard.store.assets import datasets
from runyard.store.assets.datasets import Dataset
from runyard.store.runs import workspace_settings

router = APIRouter(prefix="/api/workspaces/{workspace}/datasets", tags=["data"])

MOST = 10_000
"""Files in one answer."""
MOST_PATHS = 20_000

Number = Annotated[int, PathValue(ge=1, le=2**62)]
Version = Annotated[int | None, Query(ge=1, le=2**62)]


class NewDataset(BaseModel):
    model_config = ConfigDict(extra="forbid")

    definition: dict[str, JsonValue]


class Registration(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str
    description: str | None = None
    tags: dict[str, str] = {}
    create_new_version: bool = False


class Change(BaseModel):
    model_config = ConfigDict(extra="forbid")

    description: str | None = None
    tags: dict[str, str] | None = None


@router.get("", summary="The latest version of every registered dataset")
def find(workspace: Within, context: Context) -> Response:
    with context.store.database.read() as connection:
        return answer({"datasets": [_document(row) for row in datasets.latest(connection, workspace)]})


@router.post("", summary="Save a definition: the same one is the same dataset")
def save(workspace: Within, body: NewDataset, context: Context) -> Response:
    with context.store.database.write() as connection:
        return answer(_document(datasets.save(connection, workspace, body.definition)))


@router.get("/by-name/{name}", summary="One version of a registered dataset: the latest, unless one is given")
def by_name(workspace: Within, name: str, context: Context, version: Version = None) -> Response:
    with context.store.database.read() as connection:
        return answer(_document(datasets.by_name(connection, workspace, name, version)))


@router.get("/by-name/{name}/versions", summary="All versions of a registered dataset, newest first")
def versions(workspace: Within, name: str, context: Context) -> Response:
    with context.store.database.read() as connection:
        return answer({"datasets": [_document(row) for row in datasets.versions(connection, workspace, name)]})


@router.delete("/by-name/{name}", summary="Unregister all versions of a dataset", dependencies=[User])
def unregister(workspace: str, name: str, context: Context) -> Response:
    with context.store.database.write() as connection:
        return answer({"versions": datasets.unregister(connection, workspace, name)})


@router.patch("/by-name/{name}/versions/{version}", summary="Change the description or tags of a version")
def change(workspace: Within, name: str, version: Number, body: Change, context: Context) -> Response:
    with context.store.database.write() as connection:
        return answer(_document(datasets.change(connection, workspace, name, version, body.description, body.tags)))


@router.get("/{id}", summary="One dataset by its id")
def get(workspace: str, id: str, caller: AnyCaller, context: Context) -> Response:
    _may_read(context, caller, workspace)
    with context.store.database.read() as connection:
        return answer(_document(datasets.get(connection, workspace, id)))


@router.post("/{id}/registrations", summary="Register a dataset under a name")
def register(workspace: Within, id: str, body: Registration, context: Context) -> Response:
    with context.store.database.write() as connection:
        row = datasets.register(
            connection, workspace, id, body.name, body.description, body.tags, body.create_new_version
        )
        return answer(_document(row))


@router.get("/{id}/files", summary="The files of a dataset: where each lies in a run, and how it is to be had")
def files(
    workspace: str,
    id: str,
    caller: AnyCaller,
    context: Context,
    after: str | None = None,
    limit: Annotated[int, Query(ge=1, le=MOST)] = MOST,
) -> Response:
    _may_read(context, caller, workspace)
    definition, maps, settings = _definition(context, workspace, id)
    place_of = places(context, workspace)
    begin = functools.partial(listing.Going, definition, maps, place_of)
    listed, following = _page(begin, (workspace, id, "files"), after, len(definition.steps), limit)
    single = after is None and following is None and listing.is_single(definition, listed)
    return answer(
        {
            "files": _described(id, listing.with_addresses(listed, place_of)),
            "single": single,
            "several": definition.several,
            "mounting": {"above": workspace_settings.lazy_above(settings), "python": mount_python()},
            "next": following,
        }
    )


@router.get("/{id}/paths", summary="Where the files of a dataset lie in a run, and no more of them")
def paths(
    workspace: str,
    id: str,
    caller: AnyCaller,
    context: Context,
    after: str | None = None,
    limit: Annotated[int, Query(ge=1, le=MOST_PATHS)] = MOST_PATHS,
) -> Response:
    _may_read(context, caller, workspace)
    definition, maps, _ = _definition(context, workspace, id)
    begin = functools.partial(listing.Going, definition, maps, places(context, workspace), facts=False)
    listed, following = _page(begin, (workspace, id, "paths"), after, len(definition.steps), limit)
    return answer({"paths": [each.path for each in listed], "next": following})


@router.get("/{id}/state", summary="The listing of a dataset in one word, which changes when a file does")
def state(workspace: str, id: str, caller: AnyCaller, context: Context) -> Response:
    _may_read(context, caller, workspace)
    definition, maps, _ = _definition(context, workspace, id)
    found = listing.state(definition, maps, places(context, workspace))
    return answer({"state": found.value, "files": found.files, "bytes": found.bytes})


@router.get("/{id}/folder", summary="The folder of the server's disk that has the files of a dataset, and nothing else")
def folder(workspace: str, id: str, caller: AnyCaller, context: Context) -> Response:
    _may_read(context, caller, workspace)
    definition, _, _ = _definition(context, workspace, id)
    found = listing.whole_folder(definition, places(context, workspace))
    if found is None:
        return answer({"folder": None, "files": None, "names": None, "mark": None})
    return answer({**found._asdict(), "mark": contract.mark_of_folder(os.stat(found.folder))})


@router.get("/{id}/content", summary="The bytes of one file, through the server")
def content(
    workspace: str,
    id: str,
    path: str,
    request: Request,
    caller: AnyCaller,
    context: Context,
    range: Annotated[str | None, Header()] = None,
) -> Response:
    _may_read(context, caller, workspace)
    path = exact(request, "path", path)
    definition, maps, _ = _definition(context, workspace, id)
    place_of = places(context, workspace)
    found = listing.find(definition, maps, place_of, path)
    if found is None:
        raise Problem("file_not_found", f"The dataset has no file {path[:200]!r} that the server can give.")
    if found.local is not None:
        return file_response(opened(found.local, found.source), found.size or 0, found.path, range, None)
    place = place_of(str(found.datastore))
    return ranged_response(functools.partial(place.read, found.stored), found.size or 0, found.path, range, found.etag)


def _may_read(context: ServerContext, caller: Caller, workspace: str) -> None:
    if caller.run_id is not None and reach.workspace_of(context, caller) != workspace:
        raise not_allowed(caller.run_id, "A run's token reads the datasets of its own workspace only.")


def _definition(
    context: ServerContext, workspace: str, id: str
) -> tuple[contract.Definition, dict[str, str], Mapping[str, str]]:
    """The definition of a dataset, the mapped addresses of its workspace, and the settings of that."""
    with context.store.database.read() as connection:
        row = datasets.get(connection, workspace, id)
        settings = workspace_settings.find(connection, workspace)
    return contract.parse(row.definition), workspace_settings.mapped(settings), settings


def _document(row: Dataset) -> Json:
    return {
        "id": row.id,
        "definition": row.definition,
        "created_at": timestamp(row.created_at),
        "name": row.name,
        "version": row.version,
        "description": row.description,
        "tags": row.tags or {},
        "registered_at": timestamp(row.registered_at),
    }


def _page(
    begin: Callable[[listing.Position | None], listing.Going],
    key: tuple[str, str, str],
    after: str | None,
    steps: int,
    limit: int,
) -> tuple[list[listing.Listed], str | None]:
    """A page of a listing, and what its next one is asked for with; None when that was all."""
    going = paused.take((*key, after), listing.Going) if after is not None else None
    if going is None:
        going = begin(listing.Position.parse(after, steps) if after is not None else None)
    found, position = going.page(limit)
    if position is None:
        return found, None
    paused.keep((*key, str(position)), going)
    return found, str(position)


def _described(id: str, found: Sequence[listing.Listed]) -> list[Json]:
    content = listing.content_address(id)
    return [
        {
            "path": each.path,
            "source": each.source,
            "size": each.size,
            "etag": each.etag,
            "modified": each.modified,
            "local": each.local,
            "url": each.url,
            "address": each.address,
            "content": content + quote(each.path, errors="surrogateescape") if each.local or each.datastore else None,
        }
        for each in found
    ]
