"""Routes of datastores: registering and finding them, and the files in them.

Only the user registers one: a folder of the server's machine, or credentials, are not a run's to name. What a run may
see of its workspace it also reads and writes in the datastores, as SDK v1's scripts do; one that is narrowed to itself
has its own outputs and inputs (`run_reach`).
"""

from __future__ import annotations

import functools
from typing import Annotated, Literal
from uuid import uuid4

from fastapi import APIRouter, Header, Query, Request
from pydantic import BaseModel, ConfigDict, Field, JsonValue
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from runyard.contracts.data import datastores as contract
from runyard.server.api.data.run_reach import WithinInputs, WithinOutputs
from runyard.server.api.files import BYTES
from runyard.server.context import Context, ServerContext
from runyard.server.data.opening import places
from runyard.server.data.places import SIGNED_FOR, Place, Stored, own_folder
from runyard.server.data.staging import Staged
from runyard.server.middleware.auth import User
from runyard.server.middleware.problems import Problem
from runyard.server.middleware.reach import Within
from runyard.server.requests import uploads
from runyard.server.requests.exact import exact
from runyard.server.responses import paused
from runyard.server.responses.documents import Json, answer, timestamp
from runyard.server.responses.downloads import file_response, opened, ranged_response
from runyard.store.assets import datastores
from runyard.store.assets.datastores import Datastore
from runyard.store.content.secrets import SecretMissing

router = APIRouter(prefix="/api/workspaces/{workspace}/datastores", tags=["data"])

MOST = 10_000
"""Files in one answer."""

Upload = Annotated[str | None, Query(pattern="^[0-9a-zA-Z-]{8,64}$", description="what the sender calls this upload")]


class NewDatastore(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str
    kind: str
    settings: dict[str, JsonValue] = {}
    secrets: dict[str, str] = {}
    overwrite: bool = False


class Wanted(BaseModel):
    model_config = ConfigDict(extra="forbid")

    method: Literal["GET", "PUT"] = "GET"
    paths: list[str] = Field(max_length=1_000)


@router.get("", summary="The datastores of a workspace")
def find(workspace: Within, context: Context) -> Response:
    with context.store.database.read() as connection:
        found = datastores.find(connection, workspace)
    return answer({"datastores": [_document(context, workspace, each) for each in found]})


@router.post("", summary="Register a datastore", dependencies=[User])
def register(workspace: str, body: NewDatastore, context: Context) -> Response:
    try:
        contract.check(body.kind, body.settings, body.secrets)
    except contract.BadDatastore as error:
        raise Problem("bad_datastore", error.message, error.help) from None
    named = {key: context.secrets.keep(value) for key, value in body.secrets.items()}
    with context.store.database.write() as connection:
        made = datastores.register(connection, workspace, body.name, body.kind, body.settings, named, body.overwrite)
        return answer(_document(context, workspace, made))


@router.get("/{name}", summary="One datastore")
def get(workspace: WithinOutputs, name: str, context: Context) -> Response:
    with context.store.database.read() as connection:
        return answer(_document(context, workspace, datastores.get(connection, workspace, name)))


@router.delete("/{name}", summary="Forget a datastore; its files stay", dependencies=[User])
def unregister(workspace: str, name: str, context: Context) -> Response:
    with context.store.database.write() as connection:
        return answer({"datasets": datastores.unregister(connection, workspace, name)})


@router.put("/{name}/default", summary="Make a datastore the default one", dependencies=[User])
def set_default(workspace: str, name: str, context: Context) -> Response:
    with context.store.database.write() as connection:
        return answer(_document(context, workspace, datastores.set_default(connection, workspace, name)))


@router.post("/{name}/login", summary="How a database is reached, with its password")
def login(workspace: WithinInputs, name: str, context: Context) -> Response:
    """Whoever reads rows connects by themselves, with the driver that they have."""
    with context.store.database.read() as connection:
        found = datastores.get(connection, workspace, name)
    if found.kind not in contract.DATABASES:
        raise Problem(
            "bad_datastore",
            f"The datastore {name[:80]!r} is no database: it is {contract.KINDS[found.kind].says}.",
            "Its files are read through datasets, and its credentials stay with the server.",
        )
    try:
        secrets = {key: context.secrets.value(secret) for key, secret in found.secrets.items()}
    except SecretMissing:
        raise Problem(
            "datastore_unreachable",
            f"The credentials of the datastore {found.name!r} are not on the server's disk any more.",
            "Register it again with overwrite=True.",
        ) from None
    made = answer({"name": found.name, "kind": found.kind, "settings": dict(found.settings), "secrets": secrets})
    made.headers["Cache-Control"] = "no-store"
    return made


@router.get("/{name}/files", summary="The files of a datastore, sorted by path")
def files(
    workspace: WithinOutputs,
    name: str,
    request: Request,
    context: Context,
    below: Annotated[str, Query(description="a folder, or one file")] = "",
    after: str | None = None,
    limit: Annotated[int, Query(ge=1, le=MOST)] = MOST,
    addresses: Annotated[bool, Query(description="with an address that reads each file, where there is one")] = False,
) -> Response:
    place = places(context, workspace)(name)
    below = exact(request, "below", below)
    after = after and exact(request, "after", after)
    key = (workspace, name, "datastore", below)
    going = paused.take((*key, after), paused.Pages) if after is not None else None
    if going is None:
        going = paused.Pages(place.files(_folder(below), after))
    found: list[Stored] = going.page(limit)
    following = found[-1].path if going.more() else None
    if following is not None:
        paused.keep((*key, following), going)
    signed = place.addresses([each.path for each in found]) if addresses else [None] * len(found)
    return answer(
        {
            "files": [_file(place, each, url) for each, url in zip(found, signed, strict=True)],
            "next": following,
        }
    )


@router.post("/{name}/addresses", summary="Addresses by which files are read or written without the server")
def addresses(workspace: Within, name: str, body: Wanted, context: Context) -> Response:
    place = places(context, workspace)(name)
    paths = [_path(each) for each in body.paths]
    made = place.addresses(paths, body.method)
    return answer({"addresses": made, "headers": dict(place.headers(body.method)), "seconds": SIGNED_FOR})


@router.get("/{name}/content", summary="The bytes of a file, through the server")
def content(
    workspace: WithinOutputs,
    name: str,
    path: str,
    request: Request,
    context: Context,
    range: Annotated[str | None, Header()] = None,
) -> Response:
    place = places(context, workspace)(name)
    path = exact(request, "path", path)
    found = place.look(_path(path))
    if found is None:
        raise Problem(
            "file_not_found",
            f"There is no file {path[:200]!r} in the datastore {name!r}.",
            f"`runyard datastore tree {name}` shows its files.",
        )
    local = place.local(found.path)
    if local is not None:
        return file_response(opened(local, found.path), found.size or 0, found.path, range, None)
    return ranged_response(functools.partial(place.read, found.path), found.size or 0, found.path, range, found.etag)


@router.get("/{name}/upload", summary="How much of a broken upload is here")
def upload_size(
    workspace: WithinOutputs, name: str, path: str, request: Request, upload: Upload, context: Context
) -> Response:
    wanted = _path(exact(request, "path", path))
    staged = Staged(context.settings.home, workspace, datastores.checked(name), wanted, str(upload))
    return answer({"offset": staged.size})


@router.put("/{name}/content", summary="Write a file, through the server", openapi_extra=BYTES)
async def write(
    workspace: WithinOutputs,
    name: str,
    path: str,
    request: Request,
    context: Context,
    overwrite: bool = False,
    upload: Upload = None,
    offset: Annotated[int, Query(ge=0, le=2**62, description="where in the file these bytes begin")] = 0,
    size: Annotated[int | None, Query(ge=0, le=2**62, description="of the whole file; none: that is all")] = None,
) -> Response:
    """The file is there when all its bytes have come, and not before."""
    wanted = _path(exact(request, "path", path))
    place = await run_in_threadpool(_writable, context, workspace, name, wanted, overwrite)
    staged = Staged(context.settings.home, workspace, name.lower(), wanted, upload or uuid4().hex)
    try:
        here = await staged.receive(uploads.pieces(request), offset)
    except BaseException:
        if upload is None:
            staged.path.unlink(missing_ok=True)
        raise
    if size is not None and here < size:
        return answer({"path": wanted, "offset": here, "complete": False})
    if size is not None and here > size:
        staged.path.unlink(missing_ok=True)
        raise Problem("content_mismatch", f"{here:,} bytes came of a file that has {size:,}.", "Send it again.")
    await run_in_threadpool(place.take, wanted, staged.path)
    return answer({"path": wanted, "offset": here, "complete": True})


def _writable(context: ServerContext, workspace: str, name: str, path: str, overwrite: bool) -> Place:
    place = places(context, workspace)(name)
    if not overwrite and place.look(path) is not None:
        raise Problem(
            "file_exists",
            f"There is a file {path!r} in the datastore {name!r} already.",
            "Use overwrite=True, or another path.",
        )
    return place


def _path(path: str) -> str:
    try:
        return contract.check_path(path)
    except contract.BadDatastore as error:
        raise Problem("bad_path", error.message, error.help) from None


def _folder(below: str) -> str:
    return _path(below) if below.strip("/.") else ""


def _document(context: ServerContext, workspace: str, row: Datastore) -> Json:
    settings = dict(row.settings)
    if row.own:
        settings["path"] = str(own_folder(context.settings.home, workspace, row.name))
    return {
        "name": row.name,
        "kind": row.kind,
        "settings": settings,
        "secrets": sorted(row.secrets),
        "default": row.default,
        "created_at": timestamp(row.created_at),
    }


def _file(place: Place, each: Stored, url: str | None) -> Json:
    return {
        "path": each.path,
        "size": each.size,
        "etag": each.etag,
        "modified": each.modified,
        "local": place.local(each.path),
        "url": url,
    }
