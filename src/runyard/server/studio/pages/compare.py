"""Several runs beside one another."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request
from starlette.responses import Response

from runyard.server.studio import templating
from runyard.server.studio.page import Viewer, pages

router = pages("/studio/{workspace}/compare")


@router.get("")
def show(
    workspace: str,
    request: Request,
    viewer: Viewer,
    runs: Annotated[str, Query(description="their ids, with commas between them")] = "",
) -> Response:
    wanted = list(dict.fromkeys(filter(None, runs.split(","))))
    title = f"Compare {len(wanted)} runs" if wanted else "Compare runs"
    return templating.render(request, "compare.html", workspace=workspace, section="runs", title=title, wanted=wanted)
