"""The server itself: versions, disk, database, what takes space, what is not in order."""

from __future__ import annotations

import os
import platform

from fastapi import Request
from starlette.responses import Response

from runyard import __version__
from runyard.contracts import PROTOCOL
from runyard.server import condition
from runyard.server.context import Context
from runyard.server.studio import templating
from runyard.server.studio.page import Viewer, pages
from runyard.store.runs import workspaces

router = pages("/studio/server")


@router.get("")
def show(request: Request, viewer: Viewer, context: Context) -> Response:
    with context.store.database.read() as connection:
        first = workspaces.find(connection)[0].name
    facts = {
        "Version": f"Runyard {__version__}, protocol {PROTOCOL}",
        "Python": f"{platform.python_version()} on {platform.platform(terse=True)}",
        "Database": context.store.database.kind,
        "Home folder": str(context.settings.home),
        "Process": str(os.getpid()),
    }
    return templating.render(
        request,
        "server.html",
        workspace=first,
        section="server",
        title="Server",
        facts=facts,
        started_at=context.started_at,
        condition=condition.of(context),
    )
