"""The models of a workspace, and the page of one: its versions, where each is from, where it is served, its files."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request
from starlette.responses import Response

from runyard.contracts import manifest
from runyard.server.context import Context
from runyard.server.responses import documents
from runyard.server.studio import templating
from runyard.server.studio.page import Version, Viewer, pages
from runyard.store.assets import models
from runyard.store.assets.models import ModelFilter
from runyard.store.content import snapshots
from runyard.store.runs import runs

ON_A_PAGE = 100
FILES_SHOWN = 500

router = pages("/studio/{workspace}/models")


@router.get("")
def show(
    workspace: str,
    request: Request,
    viewer: Viewer,
    context: Context,
    after: Annotated[int | None, Query(ge=1, le=2**62)] = None,
) -> Response:
    with context.store.database.read() as connection:
        found, following = models.find(connection, workspace, ModelFilter(latest=True), ON_A_PAGE, after)
    listed = [documents.model(each) for each in found]
    return templating.render(
        request,
        "models.html",
        workspace=workspace,
        section="models",
        title="Models",
        models=listed,
        following=following,
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
        chosen = models.get(connection, workspace, name, version)
        versions, _ = models.find(connection, workspace, ModelFilter(name=name), ON_A_PAGE, None)
        entries = manifest.parse(snapshots.manifest_text(connection, chosen.content.tree)).entries
        run = runs.look_up(connection, chosen.run_id) if chosen.run_id else None
    files = [each for each in entries if each.kind == manifest.FILE]
    return templating.render(
        request,
        "model.html",
        workspace=workspace,
        section="models",
        title=name,
        model=documents.model(chosen),
        versions=[documents.model(each) for each in versions],
        files=files[:FILES_SHOWN],
        more_files=max(0, len(files) - FILES_SHOWN),
        run=run,
    )
