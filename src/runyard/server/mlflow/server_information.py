"""What a client of MLflow asks of the server itself."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import PlainTextResponse, Response

from runyard.server.mlflow.here import At
from runyard.server.responses.documents import answer

PROTOCOL = "3.15.1"
"""The version of MLflow whose protocol this is."""

router = APIRouter(prefix="/mlflow/{workspace}", include_in_schema=False)


@router.get("/api/3.0/mlflow/server-info")
def server_info(here: At) -> Response:
    with here.read():
        pass
    return answer(
        {
            "store_type": "SqlStore",
            "workspaces_enabled": False,
            "multipart_uploads_enabled": False,
            "multipart_downloads_enabled": False,
            "trace_archival_enabled": False,
        }
    )


@router.get("/version", response_class=PlainTextResponse)
def version(here: At) -> Response:
    return PlainTextResponse(PROTOCOL)


@router.get("/health", response_class=PlainTextResponse)
def health(here: At) -> Response:
    return PlainTextResponse("OK")
