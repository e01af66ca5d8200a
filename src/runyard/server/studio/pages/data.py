"""The datasets of a workspace, and the page of one: its definition, its versions, its files, the runs that read it."""

from __future__ import annotations

from typing import Any

from fastapi import Request
from starlette.responses import Response

from runyard.contracts.data import seen
from runyard.server.context import Context
from runyard.server.studio import templating
from runyard.server.studio.page import Version, Viewer, pages
from runyard.store.assets import datasets
from runyard.store.runs import runs
from runyard.store.runs.filter import RunFilter
from runyard.store.runs.runs import Run

READERS = 20

router = pages("/studio/{workspace}/data")


@router.get("")
def show(workspace: str, request: Request, viewer: Viewer, context: Context) -> Response:
    with context.store.database.read() as connection:
        found = datasets.latest(connection, workspace)
    return templating.render(
        request, "data.html", workspace=workspace, section="data", title="Datasets", datasets=found, kind=_kind
    )


@router.get("/{name}")
def show_one(
    workspace: str,
    name: str,
    request: Request,
    viewer: Viewer,
    context: Context,
    version: Version = None,
) -> Response:
    with context.store.database.read() as connection:
        chosen = datasets.by_name(connection, workspace, name, version)
        versions = datasets.versions(connection, workspace, name)
        reading = RunFilter(
            workspace=workspace, properties=[(seen.OF_DATASET + chosen.id, None)], include_children=True
        )
        readers, _ = runs.find(connection, reading, READERS)
    api = f"/api/workspaces/{templating.part(workspace)}"
    return templating.render(
        request,
        "dataset.html",
        workspace=workspace,
        section="data",
        title=name,
        dataset=chosen,
        kind=_kind(chosen.definition),
        versions=versions,
        readers=[_reader(row, chosen.id) for row in readers],
        data={"files": f"{api}/datasets/{chosen.id}/files", "content": "", "base": api},
    )


def _kind(definition: dict[str, Any]) -> str:
    return "table" if definition.get("kind") == "tabular" or definition.get("table") else "files"


def _reader(row: Run, dataset: str) -> dict[str, Any]:
    """A run, with what it saw of the dataset."""
    records = seen.of_run(row.properties)
    inputs = [name for name in str(row.properties.get(seen.OF_DATASET + dataset) or "").split(",") if name]
    saw = next((records[name] for name in inputs if name in records), {})
    return {"run": row, "inputs": ", ".join(inputs), "files": saw.get("files"), "bytes": saw.get("bytes")}
