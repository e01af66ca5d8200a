"""The runs of a workspace: the page begins with the rows that its address asks for; its modules go on from there."""

from __future__ import annotations

from fastapi import Request
from starlette.responses import Response

from runyard.server.api.views import run_table
from runyard.server.context import Context, ServerContext
from runyard.server.responses.documents import Json
from runyard.server.studio import templating
from runyard.server.studio.page import Viewer, pages
from runyard.store.metrics import staging
from runyard.store.runs import query_language, saved_views, table
from runyard.store.runs.query_language import BadQuery
from runyard.store.runs.table import Columns

PAGE = 50
SIZES = (25, 50, 100, 250)
USUAL = ("status", "experiment", "created", "duration")
USUAL_METRICS, USUAL_PARAMETERS = 3, 2
"""How many of each kind a page shows of which nothing else is said."""
LISTED = 1000

router = pages("/studio/{workspace}/runs")


@router.get("")
def show(workspace: str, request: Request, viewer: Viewer, context: Context) -> Response:
    return templating.render(
        request, "runs.html", workspace=workspace, section="runs", title="Runs", data=_data(workspace, request, context)
    )


def _data(workspace: str, request: Request, context: ServerContext) -> Json:
    given = request.query_params
    staging.settle_few(context.store.database, run_table.FEW)
    with context.store.database.read() as connection:
        names = table.names(connection, workspace, LISTED)
        views = saved_views.find(connection, workspace)
    columns = given.getlist("col") or _usual(names)
    size = int(given["size"]) if given.get("size") in {str(each) for each in SIZES} else PAGE
    page = int(given["page"]) if given.get("page", "").isdecimal() and len(given["page"]) < 7 else 1
    data: Json = {
        "names": names,
        "fields": query_language.FIELDS,
        "flags": query_language.FLAGS,
        "usual": _usual(names),
        "sizes": SIZES,
        "views": [{"name": each.name, "query": each.query} for each in views],
        "answer": None,
        "problem": None,
    }
    if given.get("group"):
        return data  # the modules ask for the groups
    try:
        wanted = run_table.asked(
            workspace, given.get("q", ""), given.get("sort") or "-created", given.get("flat") == "1", None
        )
        shown = Columns(*(_named(columns, family)[: table.MOST_NAMES] for family in ("metrics", "params", "tag")))
        data["answer"] = run_table.document(context, wanted, shown, size, (max(1, page) - 1) * size, total=True)
    except BadQuery as error:
        data["problem"] = {"title": error.title, "help": error.help, "detail": error.detail}
    return data


def _usual(names: dict[str, list[str]]) -> list[str]:
    metrics = [f"metrics.{name}" for name in names[query_language.METRIC][:USUAL_METRICS]]
    return [*USUAL, *metrics, *(f"params.{name}" for name in names[query_language.PARAMETER][:USUAL_PARAMETERS])]


def _named(columns: list[str], family: str) -> list[str]:
    return [each.removeprefix(f"{family}.") for each in columns if each.startswith(f"{family}.")]
