"""The route that gives files of a run by lines: what the studio shows of logs, however large they are."""

from __future__ import annotations

import os
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from runyard.contracts import names
from runyard.server.api.files import open_file
from runyard.server.context import Context
from runyard.server.middleware.reach import SeenRun
from runyard.server.responses.documents import answer
from runyard.store.content import lines

router = APIRouter(prefix="/api/runs/{run_id}", tags=["files"])

MOST_LINES = 5000
MOST_HITS = 1000

_counts = lines.LineCounts()


@router.get("/lines/{name:file}", summary="Lines of a file, or those that hold a text")
def read(
    run_id: SeenRun,
    name: str,
    context: Context,
    first: Annotated[int, Query(description="the first line is 0; below 0: so many from the end")] = 0,
    number: Annotated[int, Query(ge=1, le=MOST_LINES)] = 1000,
    find: Annotated[str | None, Query(min_length=1, max_length=200, description="instead: lines with this")] = None,
) -> Response:
    name = names.check_file(name)
    opened = open_file(context.store, run_id, name)
    with opened.file as file:
        if find is not None:
            hits, more = lines.find(file, opened.size, find, MOST_HITS)
            return answer({"found": [{"line": hit.line, "text": hit.text} for hit in hits], "more": more})
        counts = _counts.of(f"{run_id}\0{name}\0{os.fstat(file.fileno()).st_ino}", file, opened.size)
        begin = max(0, counts.lines + first) if first < 0 else first
        rows = lines.read(file, counts, begin, number)
    return answer(
        {
            "size": counts.size,
            "lines": counts.lines,
            "first": begin,
            "rows": [row.text for row in rows],
            "cut": {str(begin + at): row.more for at, row in enumerate(rows) if row.more},
            "open": counts.is_open,
        }
    )
