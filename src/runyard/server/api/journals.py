"""The route by which journals come in."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response

from runyard.contracts.delivery import JournalPart
from runyard.server.context import Context, ServerContext
from runyard.server.middleware.reach import WrittenRun
from runyard.server.requests import uploads
from runyard.server.responses.documents import answer

router = APIRouter(prefix="/api/runs/{run_id}/journals", tags=["metrics"])

LINES = {"requestBody": {"required": True, "content": {"application/jsonl": {}}}}


@router.post("/{writer}", summary="Take in lines of a journal", openapi_extra=LINES)
async def accept(
    run_id: WrittenRun,
    writer: Annotated[str, Path(pattern=r"^[A-Za-z0-9_.\-]+$", max_length=255)],
    request: Request,
    context: Context,
    offset: Annotated[int, Query(ge=0, description="where in the journal the lines begin")],
) -> Response:
    """A long body is taken in piece by piece, each in a transaction of its own: what is confirmed stays even if the
    rest never arrives."""
    confirmed: int | None = None
    async for piece in uploads.lines(request):
        confirmed = await _accept(context, run_id, JournalPart(writer, offset, piece))
        offset += len(piece)
    if confirmed is None:
        confirmed = await _accept(context, run_id, JournalPart(writer, offset, b""))
    return answer({"offset": confirmed})


async def _accept(context: ServerContext, run_id: str, part: JournalPart) -> int:
    taken = await context.ingest.take_part(run_id, part)
    context.meters.stored(len(part.data))
    context.meters.recorded(part.data.count(b"\n"))
    return taken.size
