"""Routes of the page of one run, for whoever has its link. The link's key shows this run and nothing else."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Header, Query, Request
from starlette.responses import HTMLResponse, Response, StreamingResponse

from runyard.contracts import history, names
from runyard.server.api.files import open_file
from runyard.server.connections import trust
from runyard.server.context import Context
from runyard.server.middleware.auth import same, view_key
from runyard.server.middleware.problems import Problem
from runyard.server.responses import documents
from runyard.server.responses.downloads import file_response
from runyard.server.studio import render
from runyard.server.studio.page import SharedRoute
from runyard.store.content import files
from runyard.store.content.files import FileEntry
from runyard.store.errors import Damaged
from runyard.store.metrics import series, staging
from runyard.store.runs import runs
from runyard.store.store import Store

TAIL = 64 << 10
"""How many bytes of the log the page shows."""

PRIVATE = {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer"}
"""The key is in the address: it must not travel on to other sites, nor stay in caches."""


async def viewer(
    run_id: str,
    request: Request,
    context: Context,
    key: Annotated[str, Query(description="from the run's `web_url`")] = "",
) -> str:
    """The key, when it is that of the run."""
    if not same(key, view_key(context.settings.secret, run_id)):
        raise Problem(
            "not_allowed",
            "This link does not open the page of a run.",
            "`runyard show <run>` prints the whole link; it may have been cut short.",
        )
    trust(request.scope)
    await context.pace.look(run_id)
    return key


Key = Annotated[str, Depends(viewer)]

router = APIRouter(prefix="/runs/{run_id}", tags=["page"], route_class=SharedRoute)


@router.get("", summary="A run as a web page", response_class=HTMLResponse)
def show(run_id: str, key: Key, context: Context) -> Response:
    staging.settle(context.store.database, [run_id])
    with context.store.database.read() as connection:
        run = context.scheduler.seen(runs.get(connection, run_id))
        shown = render.Shown(
            run=run,
            key=key,
            states=runs.states(connection, run_id),
            metrics=series.read(connection, run_id, buckets=1),
            files=files.find(connection, run_id),
        )
    log = _main_log(shown.files)
    tail = _tail(context.store, run_id, log) if log else ""
    html = render.render(shown, log, tail)
    return HTMLResponse(html, headers={**PRIVATE, "Content-Security-Policy": render.POLICY, **render.refresh(run)})


@router.get("/files/{name:file}", summary="A file that the page links to", response_class=StreamingResponse)
def download(
    run_id: str, name: str, key: Key, context: Context, range: Annotated[str | None, Header()] = None
) -> Response:
    name = names.check_file(name)
    opened = open_file(context.store, run_id, name)
    response = file_response(opened.file, opened.size, name, range, opened.digest)
    response.headers.update(PRIVATE)
    return response


def _main_log(entries: list[FileEntry]) -> str | None:
    """The log that a user looks for first: what the script printed."""
    logs = [entry.name for entry in documents.logs(entries) if not history.is_former(entry.name)]
    for folder in history.LOG_PREFIXES:
        if found := [name for name in logs if name.startswith(folder)]:
            return found[0]
    return None


def _tail(store: Store, run_id: str, name: str) -> str:
    try:
        opened = open_file(store, run_id, name)
    except Damaged as error:  # the rest of the page is all the more of use
        return error.title
    with opened.file as file:
        file.seek(max(0, opened.size - TAIL))
        text = file.read(TAIL).decode("utf-8", "replace")
    return text if opened.size <= TAIL else text.partition("\n")[2]
