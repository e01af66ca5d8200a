"""The environments of a workspace, and the page of one: what it asks for, how it was built, the log of that."""

from __future__ import annotations

import shlex
from datetime import datetime, timezone
from typing import Annotated, Any

from fastapi import Query, Request
from sqlalchemy import Connection
from starlette.responses import Response

from runyard.contracts import curated, history
from runyard.environments.cache import Cache, Entry
from runyard.server.api.files import open_file
from runyard.server.context import Context, ServerContext
from runyard.server.responses import documents
from runyard.server.studio import templating
from runyard.server.studio.page import Viewer, pages
from runyard.store.assets import environments
from runyard.store.content import files
from runyard.store.errors import StoreError
from runyard.store.runs import runs
from runyard.store.runs.filter import RunFilter

LOOKED_THROUGH = 60
"""Runs, the newest first, among which the one is looked for that has built an environment last."""

LOG_SHOWN = 64 << 10

router = pages("/studio/{workspace}/environments")


@router.get("")
def show(workspace: str, request: Request, viewer: Viewer, context: Context) -> Response:
    with context.store.database.read() as connection:
        known = [documents.environment(row) for row in environments.latest(connection, workspace)]
    ours = [documents.curated_environment(found) for name in curated.names() if (found := curated.find(name))]
    built = Cache(context.settings.home / "environments").entries()
    listed = [{**each, "builds": [entry for entry in built if each["name"] in entry.names]} for each in [*known, *ours]]
    return templating.render(
        request,
        "environments.html",
        workspace=workspace,
        section="environments",
        title="Environments",
        environments=listed,
        built=built,
        packages=_packages,
    )


@router.get("/{name}")
def show_one(
    workspace: str,
    name: str,
    request: Request,
    viewer: Viewer,
    context: Context,
    version: Annotated[str | None, Query(max_length=255)] = None,
) -> Response:
    with context.store.database.read() as connection:
        found = curated.find(name) if curated.is_reserved(name) else None
        if found is not None:
            chosen = documents.curated_environment(found)
            versions = [chosen]
        else:
            chosen = documents.environment(environments.get(connection, workspace, name, version, None))
            versions = [documents.environment(row) for row in environments.versions(connection, workspace, name)]
        built_by = _last_build(connection, workspace, name)
    builds: list[Entry] = [
        each for each in Cache(context.settings.home / "environments").entries() if name in each.names
    ]
    return templating.render(
        request,
        "environment.html",
        workspace=workspace,
        section="environments",
        title=name,
        environment=chosen,
        versions=versions,
        packages=_packages(chosen["definition"]),
        moment=lambda at: datetime.fromtimestamp(at, timezone.utc),
        builds=builds,
        command=f"runyard env build {shlex.quote(name)}",
        built_by=built_by,
        log=_log(context, built_by) if built_by else "",
    )


def _packages(definition: dict[str, Any]) -> list[str]:
    """What a definition of SDK v1 asks for: its conda packages, then those of pip."""
    found: list[str] = []
    asked = ((definition.get("python") or {}).get("condaDependencies") or {}).get("dependencies") or []
    for each in asked:
        found += [str(line) for line in each.get("pip") or []] if isinstance(each, dict) else [str(each)]
    return found


def _last_build(connection: Connection, workspace: str, name: str) -> str | None:
    """The newest run with this environment of which there is a log of its build."""
    rows, _ = runs.find(connection, RunFilter(workspace=workspace, include_children=True), LOOKED_THROUGH)
    wanted = history.system_log(history.ENVIRONMENT_LOG)
    for row in rows:
        _, launch = runs.definition_and_launch(connection, row.id)
        asked = (launch or {}).get("environment") or {}
        if asked.get("name") == name and any(each.name == wanted for each in files.find(connection, row.id)):
            return row.id
    return None


def _log(context: ServerContext, run_id: str) -> str:
    try:
        opened = open_file(context.store, run_id, history.system_log(history.ENVIRONMENT_LOG))
    except StoreError:
        return ""  # it was dropped, or deleted with its run
    with opened.file as file:
        file.seek(max(0, opened.size - LOG_SHOWN))
        return file.read(LOG_SHOWN).decode("utf-8", "replace")
