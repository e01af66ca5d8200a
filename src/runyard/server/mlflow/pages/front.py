"""The page that MLflow's application begins with, and the files that it loads."""

from __future__ import annotations

import re
from urllib.parse import quote

from fastapi import Request
from starlette.datastructures import Headers
from starlette.responses import HTMLResponse, RedirectResponse, Response

from runyard.contracts.installation import installation
from runyard.server.context import Context
from runyard.server.middleware.problems import Problem
from runyard.server.studio import mlflow_pages, policy
from runyard.server.studio.page import Viewer, pages
from runyard.server.studio.static_files import FOR_EVER
from runyard.store.runs import workspaces

router = pages("/mlflow/{workspace}")

_HOST = re.compile(r"[a-z0-9._-]+(:[0-9]+)?")
_FILES = "static-files"


@router.get("")
def without_slash(workspace: str) -> Response:
    return RedirectResponse(f"/mlflow/{quote(workspace, safe='')}/", 308, policy.HEADERS)


@router.get("/")
def front(workspace: str, viewer: Viewer, request: Request, context: Context) -> Response:
    with context.store.database.read() as connection:
        workspaces.get(connection, workspace)
    page = mlflow_pages.file(mlflow_pages.INDEX)
    if page is None:
        command = installation().with_extra(mlflow_pages.EXTRA)
        help = f"They come with an extra. On the machine of the server: {command}. Then open this page again."
        raise Problem("not_found", "MLflow's own pages are not installed on this server.", help)
    headers = {**policy.HEADERS, "Content-Security-Policy": _policy(request, workspace), "Cache-Control": "no-store"}
    return HTMLResponse(page.content, headers=headers)


@router.get(f"/{_FILES}/{{name:path}}")
def files(workspace: str, name: str, request: Request) -> Response:
    found = mlflow_pages.file(name)
    if found is None:
        raise Problem("not_found", "There is no such file.", "")
    return found.answer(Headers(scope=request.scope), FOR_EVER)


def _policy(request: Request, workspace: str) -> str:
    """MLflow's application needs what the studio's pages do not: code made of texts, for its tables and drawings, and
    styles in the page. Its scripts come from the files of the wheel alone, never from what a run has written."""
    host = policy.host_of(Headers(scope=request.scope))
    scripts = f"{host}/mlflow/{quote(workspace, safe='')}/{_FILES}/" if _HOST.fullmatch(host) else "'self'"
    return (
        f"default-src 'none'; script-src {scripts} 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data: blob:; connect-src 'self'; font-src 'self' data:; media-src 'self' blob:; "
        "worker-src 'self' blob:; manifest-src 'self'; frame-src 'self' blob:; frame-ancestors 'self'; "
        "base-uri 'none'; form-action 'self'"
    )
