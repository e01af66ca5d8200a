"""One run: what it does, its curves, logs, files, source and environment."""

from __future__ import annotations

from fastapi import Request
from starlette.responses import RedirectResponse, Response

from runyard.server.context import Context
from runyard.server.responses.run_details import details
from runyard.server.studio import figures, templating
from runyard.server.studio.page import Viewer, pages
from runyard.store.runs import runs

router = pages("/studio/{workspace}/runs/{run_id}")


@router.get("")
def show(workspace: str, run_id: str, request: Request, viewer: Viewer, context: Context) -> Response:
    with context.store.database.read() as connection:
        home = runs.get(connection, run_id).workspace
    if home != workspace:
        part = templating.part
        return RedirectResponse(f"/studio/{part(home)}/runs/{part(run_id)}")
    run = details(context, run_id, request.base_url, with_variables=True)
    title = run["display_name"] or run["id"]
    missing = figures.missing()
    return templating.render(
        request, "run.html", workspace=workspace, section="runs", title=title, run=run, figures_missing=missing
    )
