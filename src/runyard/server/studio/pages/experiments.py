"""The experiments of a workspace: what is in each, and how its runs stand."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request
from starlette.responses import Response

from runyard.contracts import states
from runyard.server.context import Context
from runyard.server.studio import templating
from runyard.server.studio.page import Viewer, pages
from runyard.store.runs import experiments, table
from runyard.store.runs.table import Asked, Sort

MOST = 1000

router = pages("/studio/{workspace}/experiments")


@router.get("")
def show(
    workspace: str,
    request: Request,
    viewer: Viewer,
    context: Context,
    archived: Annotated[bool, Query()] = False,
    q: Annotated[str, Query(max_length=500)] = "",
) -> Response:
    view = experiments.ARCHIVED_ONLY if archived else experiments.ACTIVE_ONLY
    with context.store.database.read() as connection:
        found = [each for each in experiments.find(connection, workspace, view) if q.lower() in each.name.lower()]
        groups = table.groups(connection, Asked(workspace), Sort("experiment"), (), 100_000)
        newest = experiments.newest_runs(connection, workspace)
    standing = {group.value: group for group in groups}
    rows = [
        {
            "experiment": each,
            "runs": group.runs if (group := standing.get(each.name)) else 0,
            "active": sum(many for status, many in group.states.items() if status not in states.TERMINAL)
            if group
            else 0,
            "failed": group.states.get(states.FAILED, 0) if group else 0,
            "newest": newest.get(each.id),
        }
        for each in found[:MOST]
    ]
    return templating.render(
        request,
        "experiments.html",
        workspace=workspace,
        section="experiments",
        title="Experiments",
        rows=rows,
        more=len(found) > MOST,
        archived=archived,
        q=q,
    )
