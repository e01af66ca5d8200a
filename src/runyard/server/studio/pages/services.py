"""The services of a workspace, and the page of one: health, revisions, requests and latency, logs, a form to try it."""

from __future__ import annotations

from fastapi import Request
from starlette.responses import Response

from runyard.server.context import Context
from runyard.server.responses import services as documents
from runyard.server.studio import templating
from runyard.server.studio.page import Viewer, pages
from runyard.store.assets import services

router = pages("/studio/{workspace}/services")


@router.get("")
def show(workspace: str, request: Request, viewer: Viewer, context: Context) -> Response:
    with context.store.database.read() as connection:
        found = [
            documents.service(row, services.revisions(connection, row), services.replicas(connection, row))
            for row in services.find(connection, workspace)
        ]
    return templating.render(
        request, "services.html", workspace=workspace, section="services", title="Services", services=found
    )


@router.get("/{name}")
def show_one(workspace: str, name: str, request: Request, viewer: Viewer, context: Context) -> Response:
    with context.store.database.read() as connection:
        row = services.get(connection, workspace, name)
        found = documents.service(row, services.revisions(connection, row), services.replicas(connection, row))
    return templating.render(
        request,
        "service.html",
        workspace=workspace,
        section="services",
        title=name,
        service=found,
        data={"workspace": workspace, "name": name},
    )
