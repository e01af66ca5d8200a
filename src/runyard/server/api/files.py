"""Routes of the files of a run: whole ones, ones that grow, and names for content that is there already."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, BinaryIO

from fastapi import APIRouter, Header, Query, Request
from pydantic import BaseModel, ConfigDict
from sqlalchemy import Connection
from starlette.concurrency import run_in_threadpool
from starlette.convertors import Convertor, register_url_convertor
from starlette.responses import Response, StreamingResponse

from runyard.contracts import names, pack
from runyard.contracts.delivery import LogPart
from runyard.server.context import Context, ServerContext
from runyard.server.middleware.problems import Problem
from runyard.server.middleware.reach import LedRun, SeenRun, WrittenRun
from runyard.server.requests import uploads
from runyard.server.responses import documents
from runyard.server.responses.documents import answer
from runyard.server.responses.downloads import file_response
from runyard.server.threads import in_writer_thread
from runyard.store.content import files
from runyard.store.content.files import FileEntry
from runyard.store.content.objects import ObjectWriter, Stored
from runyard.store.errors import Damaged, NotFound
from runyard.store.runs import attempts, runs
from runyard.store.slices import slices
from runyard.store.store import Store

router = APIRouter(prefix="/api/runs/{run_id}", tags=["files"])

AttemptNumber = Annotated[int | None, Query(ge=1, description="which attempt of the run has written it")]

BYTES = {"requestBody": {"required": True, "content": {"application/octet-stream": {}}}}
"""The description in /openapi.json of routes that take bytes as they are."""


class FileName(Convertor[str]):
    """The rest of an address, line feeds included: a script may name its files as it likes."""

    regex = "(?s:.*)"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


register_url_convertor("file", FileName())


class Links(BaseModel):
    model_config = ConfigDict(extra="forbid")

    files: dict[str, str]


@router.get("/files", summary="List the files of a run")
def find(run_id: SeenRun, context: Context, prefix: str = "") -> Response:
    with context.store.database.read() as connection:
        runs.get(connection, run_id)
        entries = files.find(connection, run_id, prefix)
    return answer({"files": [documents.file(entry) for entry in entries]})


@router.get("/files/{name:file}", summary="The bytes of a file, or a range of them", response_class=StreamingResponse)
def download(run_id: SeenRun, name: str, context: Context, range: Annotated[str | None, Header()] = None) -> Response:
    name = names.check_file(name)
    opened = open_file(context.store, run_id, name)
    return file_response(opened.file, opened.size, name, range, opened.digest)


@router.put("/files/{name:file}", summary="Store a whole file", openapi_extra=BYTES)
async def upload(
    run_id: WrittenRun,
    name: str,
    request: Request,
    context: Context,
    attempt: AttemptNumber = None,
    x_runyard_hash: Annotated[str | None, Header(pattern="^[0-9a-f]{64}$")] = None,
) -> Response:
    name = names.check_file(name)
    await run_in_threadpool(_must_exist, context, run_id)
    writer = await uploads.receive_object(request, context.store.objects)
    name, stored = await in_writer_thread(_keep, context, run_id, name, attempt, writer, x_runyard_hash)
    context.meters.stored(stored.size)
    context.live.file(run_id, name, stored.size)
    return answer({"name": name, "size": stored.size, "hash": stored.digest})


@router.post("/links", summary="Name content that the server has already")
def link(run_id: WrittenRun, body: Links, context: Context, attempt: AttemptNumber = None) -> Response:
    wanted = {names.check_file(name): digest for name, digest in body.files.items()}
    linked: dict[str, FileEntry] = {}
    _must_exist(context, run_id)
    for some in slices(list(wanted.items())):  # a transaction for each: others that write have their turn in between
        with context.store.database.write() as connection:
            linked.update(_link(context, connection, run_id, some, attempt))
    for entry in linked.values():
        context.live.file(run_id, entry.name, entry.size)
    return answer({"missing": [name for name in wanted if name not in linked]})


@router.post("/appends/{name:file}", summary="Append to a file that grows", openapi_extra=BYTES)
async def append(
    run_id: LedRun,
    name: str,
    request: Request,
    context: Context,
    offset: Annotated[int, Query(ge=0, description="where in the file the bytes begin")],
    restart: Annotated[bool, Query(description="empty the file first; with offset 0")] = False,
    attempt: AttemptNumber = None,
) -> Response:
    name = names.check_file(name)
    if restart and offset:
        raise Problem("bad_request", "A file that begins anew begins at offset 0.", "Send restart=true with offset=0.")
    size: int | None = None
    async for piece in uploads.pieces(request):
        size = await _append(context, run_id, LogPart(name, offset, piece, restart), attempt)
        offset, restart = offset + len(piece), False
    if size is None:
        size = await _append(context, run_id, LogPart(name, offset, b"", restart), attempt)
    return answer({"size": size})


@dataclass(frozen=True)
class Opened:
    """An open file of a run and its size now; of a whole one also the hash that its bytes must have."""

    file: BinaryIO
    size: int
    digest: str | None


def open_file(store: Store, run_id: str, name: str) -> Opened:
    """Open a file of a run. Damaged when its content is not there, or has another size than it had."""
    while True:
        with store.database.read() as connection:
            entry = files.get(connection, run_id, name)
        try:
            if entry.growing is not None:
                file = store.growing.open(entry.growing)
            else:
                file = store.objects.open(str(entry.digest))
        except NotFound:
            if _has_moved(store, run_id, entry):
                continue  # it was sealed or replaced since the row was read
            raise _damaged(run_id, entry, "is not on the server's disk any more") from None
        size = os.fstat(file.fileno()).st_size
        if entry.digest is not None and size != entry.size:
            file.close()
            raise _damaged(run_id, entry, f"has {size} bytes on the server's disk, not {entry.size}")
        return Opened(file, size, entry.digest)


def _damaged(run_id: str, entry: FileEntry, fault: str) -> Damaged:
    return Damaged(
        "object_damaged",
        f"The content of {entry.name!r} of run {run_id!r} {fault}.",
        "Put it back from a backup: `runyard doctor --deep`, where the server runs, names every file like that.",
        {"run": run_id, "name": entry.name, "hash": entry.digest},
    )


def _has_moved(store: Store, run_id: str, entry: FileEntry) -> bool:
    with store.database.read() as connection:
        now = files.get(connection, run_id, entry.name)
    return (now.digest, now.growing) != (entry.digest, entry.growing)


def _must_exist(context: ServerContext, run_id: str) -> None:
    with context.store.database.read() as connection:
        runs.get(connection, run_id)


def _keep(
    context: ServerContext, run_id: str, name: str, attempt: int | None, writer: ObjectWriter, digest: str | None
) -> tuple[str, Stored]:
    """Finished under the write lock: a deletion that runs now would otherwise remove the object before it is named."""
    try:
        with context.store.database.write() as connection:
            name = attempts.place_of(connection, run_id, name, attempt)
            stored = writer.finish(digest)
            files.put(connection, run_id, name, stored)
            return name, stored
    except BaseException:
        writer.abort()
        raise


def _link(
    context: ServerContext, connection: Connection, run_id: str, wanted: Sequence[tuple[str, str]], attempt: int | None
) -> Iterator[tuple[str, FileEntry]]:
    """Name what is there; yields it, by the names that were asked for."""
    known = files.known_sizes(connection, list({digest for _, digest in wanted if pack.is_digest(digest)}))
    for name, digest in wanted:
        size = context.store.objects.size(digest) if pack.is_digest(digest) else None
        # A torn object counts as missing: it is sent again, and is whole then for all that name it.
        if size is not None and size == known.get(digest, size):
            place = attempts.place_of(connection, run_id, name, attempt)
            yield name, files.put(connection, run_id, place, Stored(digest, size))


async def _append(context: ServerContext, run_id: str, part: LogPart, attempt: int | None) -> int:
    taken = await context.ingest.take_part(run_id, part, attempt)
    context.meters.stored(len(part.data))
    context.live.file(run_id, str(taken.name), taken.size)
    return taken.size
