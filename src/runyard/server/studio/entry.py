"""Routes that lead into the studio: the link from the command line, its static files, and addresses that are none."""

from __future__ import annotations

from fastapi import Request
from starlette.datastructures import Headers
from starlette.responses import RedirectResponse, Response

from runyard.server.context import Context
from runyard.server.middleware.problems import Problem
from runyard.server.studio import policy, static_files, templating
from runyard.server.studio.page import Viewer, pages
from runyard.store.runs import workspaces

router = pages("/studio")
files = pages(static_files.PREFIX)
rest = pages("/studio")
"""What is left when no page has the address."""


@router.get("/enter")
def enter(request: Request, context: Context, code: str = "") -> Response:
    """Exchange a link for a session. The page that answers leads on by itself: a cookie of this kind is not sent with a
    redirection that another site's link began."""
    made = context.sessions.exchange(code, policy.host_of(Headers(scope=request.scope)))
    if made is None:
        raise Problem("not_authenticated", "This link was used already, or has expired.", "")
    response = templating.plain(request, "entered.html", title="Signed in")
    context.sessions.give(response, *made, secure=request.url.scheme == "https")
    return response


@files.get("/{version}/{name:path}")
def static(version: str, name: str, request: Request) -> Response:
    found = static_files.answer(name, version, Headers(scope=request.scope))
    if found is None:
        raise Problem("not_found", "There is no such file.", "")
    return found


@router.get("/")
def front(viewer: Viewer, context: Context) -> Response:
    """The runs of the workspace that was used last."""
    with context.store.database.read() as connection:
        workspace = workspaces.latest(connection)
    return RedirectResponse(f"/studio/{templating.part(workspace)}/runs", 303, policy.HEADERS)


@router.get("")
def without_slash() -> Response:
    return RedirectResponse("/studio/", 308, policy.HEADERS)


@rest.get("/{workspace}")
def workspace_front(workspace: str, viewer: Viewer) -> Response:
    return RedirectResponse(f"/studio/{templating.part(workspace)}/runs", 303, policy.HEADERS)


@rest.get("/{address:path}")
def nowhere(address: str, viewer: Viewer) -> Response:
    raise Problem("not_found", "There is no such page.", "The navigation of the studio leads to all there are.")
