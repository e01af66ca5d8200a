"""Routes of the source that a run was started with: the files of its snapshot."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Header
from starlette.responses import Response, StreamingResponse

from runyard.contracts import manifest
from runyard.contracts.manifest import FILE, Manifest
from runyard.server.context import Context, ServerContext
from runyard.server.middleware.problems import Problem
from runyard.server.middleware.reach import ReadRun
from runyard.server.responses.documents import answer
from runyard.server.responses.downloads import file_response
from runyard.store.content import snapshots
from runyard.store.runs import runs

router = APIRouter(prefix="/api/runs/{run_id}/source", tags=["snapshots"])


@router.get("", summary="The files that a run was started with")
def find(run_id: ReadRun, context: Context) -> Response:
    found = _manifest(context, run_id)
    entries = [
        {"name": each.path, "kind": each.kind, "size": each.size, "target": each.target or None}
        for each in (found.entries if found else ())
    ]
    return answer({"snapshot_id": found.id if found else None, "files": entries})


@router.get("/{name:file}", summary="One of them, or a range of its bytes", response_class=StreamingResponse)
def read(run_id: ReadRun, name: str, context: Context, range: Annotated[str | None, Header()] = None) -> Response:
    found = _manifest(context, run_id)
    for entry in found.entries if found else ():
        if entry.path == name and entry.kind == FILE:
            size = context.store.objects.size(entry.digest)
            if size is not None:
                return file_response(context.store.objects.open(entry.digest), size, name, range, entry.digest)
    raise Problem("file_not_found", f"The source of {run_id!r} has no file {name[:200]!r}.")


def _manifest(context: ServerContext, run_id: str) -> Manifest | None:
    with context.store.database.read() as connection:
        row = runs.get(connection, run_id)
        if row.snapshot_id is None:
            return None
        return manifest.parse(snapshots.manifest_text(connection, row.snapshot_id))
