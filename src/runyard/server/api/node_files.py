"""Routes for nodes that do not share the server's disk: the plan of a node, and the code of its runner."""

from __future__ import annotations

import functools
import io
import zipfile
from dataclasses import asdict, replace
from pathlib import Path

from fastapi import APIRouter
from starlette.responses import Response

from runyard.contracts.plan import Plan, node_folder
from runyard.engines.sdk_folder import sdk_folder
from runyard.server.context import Context
from runyard.server.middleware.auth import AnyCaller
from runyard.server.middleware.problems import Problem
from runyard.server.middleware.reach import OwnRun
from runyard.server.responses.documents import answer

router = APIRouter(prefix="/api", tags=["nodes"])


@router.get("/runs/{run_id}/nodes/{node}/plan", summary="The plan of one node of a run that is being started")
def plan(run_id: OwnRun, node: int, context: Context) -> Response:
    try:
        found = Plan.load(node_folder(context.settings.home / "runs", run_id, node))
    except (OSError, ValueError):
        raise Problem(
            "plan_not_found",
            f"There is no plan for node {node} of run {run_id!r}.",
            "Plans are there while a run is under way; this one may have ended or been deleted.",
        ) from None
    return answer(asdict(replace(found, server_file=None, objects=None)))


@router.get("/sdk", summary="The code that a node runs, as a ZIP archive")
def sdk(caller: AnyCaller, context: Context) -> Response:
    return Response(_packed(sdk_folder(context.settings.home)), media_type="application/zip")


@functools.lru_cache(maxsize=1)
def _packed(folder: Path) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*.py")):
            archive.write(path, path.relative_to(folder))
    return packed.getvalue()
