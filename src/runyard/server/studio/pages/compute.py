"""The compute targets of a workspace: their nodes, who has them, what waits for them and why."""

from __future__ import annotations

from fastapi import Request
from starlette.responses import Response

from runyard.server.context import Context
from runyard.server.studio import templating
from runyard.server.studio.page import Viewer, pages
from runyard.store.assets import compute

router = pages("/studio/{workspace}/compute")


@router.get("")
def show(workspace: str, request: Request, viewer: Viewer, context: Context) -> Response:
    with context.store.database.read() as connection:
        targets = compute.find(connection, workspace)
    return templating.render(
        request,
        "compute.html",
        workspace=workspace,
        section="compute",
        title="Compute",
        targets=targets,
        data={"workspace": workspace},
    )
