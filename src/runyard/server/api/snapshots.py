"""Routes of snapshots, and of the objects that they are made of."""

from __future__ import annotations

import threading
from typing import IO, Annotated

from fastapi import APIRouter, Path, Request
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import Connection
from starlette.concurrency import run_in_threadpool
from starlette.responses import PlainTextResponse, Response, StreamingResponse

from runyard.contracts import manifest, pack
from runyard.server.api.files import BYTES
from runyard.server.context import Context, ServerContext
from runyard.server.middleware import reach
from runyard.server.middleware.auth import AnyCaller, Caller, Uploader, User, not_allowed
from runyard.server.middleware.problems import Problem
from runyard.server.requests import uploads
from runyard.server.responses.documents import answer
from runyard.server.responses.downloads import pack_response
from runyard.store.content import handed, shared, snapshots, wheels
from runyard.store.errors import Conflict
from runyard.store.runs import runs

router = APIRouter(prefix="/api", tags=["snapshots"])

SnapshotId = Annotated[str, Path(pattern="^[0-9a-f]{64}$", description="the SHA-256 of the manifest's text")]
TEXT = {"requestBody": {"required": False, "content": {"text/plain": {}}}}

MOST_BYTES = 64 << 20
"""Of a manifest: some 400,000 files."""

SMALL = 1 << 20
_one_large = threading.Lock()
"""Taken apart, a manifest needs several times its size. However many come, one large one is in memory at a time."""

_EMPTY = manifest.make([]).id
"""The snapshot of an empty folder: its manifest is no text at all, so that asking for it makes it."""


class Wanted(BaseModel):
    model_config = ConfigDict(extra="forbid")

    hashes: list[str]


class HandedObjects(BaseModel):
    """Copies that a client on this machine has laid into the folder of the store, by hash, with their sizes."""

    model_config = ConfigDict(extra="forbid")

    token: str
    objects: dict[str, Annotated[int, Field(ge=0, lt=1 << 50)]]


@router.put(
    "/snapshots/{id}",
    summary="Ask for a snapshot, or store its manifest",
    openapi_extra=TEXT,
    dependencies=[Uploader],
)
async def put(id: SnapshotId, request: Request, context: Context) -> Response:
    async with uploads.spooled(request, context.store.objects.incoming, MOST_BYTES) as file:
        missing = await run_in_threadpool(_put, context, id, file)
    return answer({"id": id, "missing": missing})


@router.get("/snapshots/{id}", summary="The manifest of a snapshot", response_class=PlainTextResponse)
def get(id: SnapshotId, caller: AnyCaller, context: Context) -> Response:
    with context.store.database.read() as connection:
        if caller.run_id is not None and not _may_fetch(connection, caller.run_id, id):
            raise not_allowed(caller.run_id, f"This token does not reach the snapshot {id}.")
        text = snapshots.manifest_text(connection, id)
    return PlainTextResponse(text)


@router.post("/objects", summary="Store the objects of a pack", openapi_extra=BYTES, dependencies=[Uploader])
async def store(request: Request, context: Context) -> Response:
    return answer({"stored": await uploads.receive_pack(request, context.store.objects, context.meters.stored)})


@router.post("/objects/handed", summary="Take objects that lie beside the store", dependencies=[User])
def take_handed(body: HandedObjects, context: Context) -> Response:
    context.meters.stored(sum(body.objects.values()))
    return answer({"stored": handed.take(context.store.objects, body.token, body.objects)})


@router.post("/objects/fetch", summary="Fetch objects as a pack", response_class=StreamingResponse)
def fetch(body: Wanted, caller: AnyCaller, context: Context) -> Response:
    _must_hold(context, caller, body.hashes)
    sizes = {digest: context.store.objects.size(digest) if pack.is_digest(digest) else None for digest in body.hashes}
    if missing := [digest for digest, size in sizes.items() if size is None]:
        raise Problem(
            "not_found",
            f"The server does not have {len(missing)} of {len(sizes)} objects, among them {missing[0][:80]!r}.",
            "They may have been deleted with the run that they belonged to.",
            {"missing": missing},
        )
    return pack_response(context.store.objects, [(digest, size) for digest, size in sizes.items() if size is not None])


def _put(context: ServerContext, id: str, file: IO[bytes]) -> list[str]:
    text = file.read(SMALL)
    if len(text) < SMALL:
        return _put_text(context, id, text)
    with _one_large:
        return _put_text(context, id, text + file.read())


def _put_text(context: ServerContext, id: str, text: bytes) -> list[str]:
    if not text and id != _EMPTY:
        with context.store.database.read() as connection:
            known = snapshots.has(connection, id) and not snapshots.is_doubtful(connection, id)
        if not known:
            raise Problem("snapshot_not_found", f"There is no snapshot {id}.", "Send its manifest.")
        return []
    parsed = manifest.parse(text)
    if parsed.id != id:
        raise Problem("content_mismatch", f"The manifest has the id {parsed.id}, not {id}.", "Its id is its SHA-256.")
    context.meters.stored(len(text))
    with context.store.database.read() as connection:
        doubtful = snapshots.is_doubtful(connection, id)
    if missing := snapshots.missing(context.store, parsed, doubtful):
        return missing
    try:
        with context.store.database.write() as connection:
            snapshots.create(connection, parsed)
    except Conflict as error:
        if error.code != "objects_missing":
            raise
        return snapshots.missing(context.store, parsed)  # something was deleted since the look above
    return []


def _must_hold(context: ServerContext, caller: Caller, hashes: list[str]) -> None:
    """A run gets what its own snapshot and its environment are made of, and what those of its workspace are."""
    if caller.run_id is None:
        return
    with context.store.database.read() as connection:
        held = _wheels(connection, caller.run_id)
        for snapshot in _snapshots(connection, caller.run_id):
            held |= snapshots.digests(connection, snapshot)
        others = [digest for digest in set(hashes) - held if pack.is_digest(digest)]
        home = reach.home_of(connection, caller.run_id) if others else None
        if home is not None and home.wide:
            held |= shared.held(connection, home.workspace, others)
    if not held.issuperset(hashes):
        raise not_allowed(caller.run_id, "Some of these objects are in no snapshot or environment of this run's reach.")


def _may_fetch(connection: Connection, run_id: str, id: str) -> bool:
    if id in _snapshots(connection, run_id):
        return True
    home = reach.home_of(connection, run_id)
    return home is not None and home.wide and shared.has_snapshot(connection, home.workspace, id)


def _snapshots(connection: Connection, run_id: str) -> set[str]:
    """A run's code, and what its image is built from."""
    named = (runs.get(connection, run_id).snapshot_id, runs.context(connection, run_id))
    return {id for id in named if id is not None}


def _wheels(connection: Connection, run_id: str) -> set[str]:
    """The private wheels in a run's environment."""
    _, launch = runs.definition_and_launch(connection, run_id)
    lines = ((launch or {}).get("environment") or {}).get("pip") or []
    return wheels.digests(connection, runs.get(connection, run_id).workspace, lines)
