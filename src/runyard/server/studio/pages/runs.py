"""The runs of a workspace."""

from __future__ import annotations

from fastapi import Request
from starlette.responses import Response

from runyard.server.studio import templating
from runyard.server.studio.page import Viewer, pages

router = pages("/studio/{workspace}/runs")


@router.get("")
def show(workspace: str, request: Request, viewer: Viewer) -> Response:
    return templating.render(request, "runs.html", workspace=workspace, section="runs", title="Runs")
