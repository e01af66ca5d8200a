"""Refusals in the form that MLflow's client understands: its error codes, our sentences."""

from __future__ import annotations

from typing import Any

import orjson
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from runyard.server.middleware import problems

PREFIX = "/mlflow/"

MISSING, EXISTS, INVALID = "RESOURCE_DOES_NOT_EXIST", "RESOURCE_ALREADY_EXISTS", "INVALID_PARAMETER_VALUE"

HERE = (
    "This server takes what MLflow's client asks of tracking, artifacts, logged models and the registry: it has no "
    "traces, assessments, prompts and webhooks."
)

_EXISTING = ("experiment_exists", "run_exists", "registered_model_exists", "workspace_exists")
_STATES = ("model_in_use", "run_active", "experiment_active", "run_not_under_way")
_BY_STATUS = {
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: MISSING,
    405: "ENDPOINT_NOT_FOUND",
    413: "REQUEST_LIMIT_EXCEEDED",
    503: "TEMPORARILY_UNAVAILABLE",
}


class MlflowErrors:
    """ASGI middleware: below `/mlflow/` every problem document becomes an error of MLflow's, whoever has sent it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not scope["path"].startswith(PREFIX):
            await self._app(scope, receive, send)
            return
        start: Message | None = None
        held = b""

        async def translated(message: Message) -> None:
            nonlocal start, held
            if message["type"] == "http.response.start":
                if Headers(raw=message["headers"]).get("content-type") != problems.MEDIA_TYPE:
                    await send(message)
                else:
                    start = message
            elif start is None:
                await send(message)
            else:
                held += message.get("body", b"")
                if not message.get("more_body", False):
                    await _send(start, held, send)

        await self._app(scope, receive, translated)


async def _send(start: Message, body: bytes, send: Send) -> None:
    status, document = translated(start["status"], orjson.loads(body))
    said = orjson.dumps(document)
    headers = MutableHeaders(raw=list(start["headers"]))
    headers["content-type"] = "application/json"
    headers["content-length"] = str(len(said))
    await send({**start, "status": status, "headers": headers.raw})
    await send({"type": "http.response.body", "body": said})


def translated(status: int, problem: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    """The status and the document of MLflow's that stand for a problem document."""
    code = str(problem.get("code"))
    help = str(problem.get("help") or "")
    if help.startswith(problems.SCHEMA):  # which does not have these routes
        help = HERE if status in (404, 405) else ""
    message = " ".join(part for part in (problem.get("title"), help) if part)
    if code == "not_found":
        return 404, {"error_code": "ENDPOINT_NOT_FOUND", "message": message}
    if code in _EXISTING:
        return 400, {"error_code": EXISTS, "message": message}
    if code in _STATES:
        return 400, {"error_code": "INVALID_STATE", "message": message}
    if status in _BY_STATUS:
        return status, {"error_code": _BY_STATUS[status], "message": message}
    if status >= 500:
        return status, {"error_code": "INTERNAL_ERROR", "message": message}
    if status == 416:
        return status, {"error_code": INVALID, "message": message}
    return 400, {"error_code": INVALID, "message": message}
