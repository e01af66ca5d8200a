"""Refusals: every error of the server and the store as a problem document with a stable code."""

from __future__ import annotations

import json
import logging
import secrets
from collections.abc import Mapping
from typing import Any

import orjson
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from runyard.contracts.manifest import BadManifest
from runyard.contracts.names import BadName
from runyard.contracts.pack import BadPack
from runyard.server.connections import is_stranger
from runyard.store.errors import StoreError

log = logging.getLogger("runyard.server")

MEDIA_TYPE = "application/problem+json"
SCHEMA = "/openapi.json"

_BAD_ENVIRONMENTS = ("bad_environment", "bad_setting", "environment_reserved")
_BAD_DATA = (
    *("bad_query", "bad_filter", "bad_dataset", "bad_datastore", "bad_path", "bad_map", "bad_sweep", "bad_model"),
)

_CODES = {
    400: ("bad_request", "bad_name", "bad_journal", "bad_manifest", "bad_pack", *_BAD_ENVIRONMENTS, *_BAD_DATA),
    401: ("not_authenticated",),
    403: ("not_allowed",),
    404: (
        "workspace_not_found",
        "experiment_not_found",
        "run_not_found",
        "file_not_found",
        "snapshot_not_found",
        "environment_not_found",
        "environment_map_not_found",
        "wheel_not_found",
        "dataset_not_found",
        "datastore_not_found",
        "map_not_found",
        "compute_not_found",
        "plan_not_found",
        "no_sweep",
        "secret_not_found",
        "service_not_found",
        "version_not_found",
        "model_not_found",
        "model_path_not_found",
        "alias_not_found",
        "tag_not_found",
        "not_found",
    ),
    405: ("method_not_allowed",),
    409: (
        "workspace_exists",
        "workspace_not_empty",
        "experiment_exists",
        "experiment_active",
        "experiment_archived",
        "run_exists",
        "run_active",
        "run_deleted",
        "property_fixed",
        "offset_gap",
        "objects_missing",
        "environment_exists",
        "wheel_exists",
        "dataset_exists",
        "datastore_exists",
        "file_exists",
        "upload_active",
        "compute_exists",
        "compute_in_use",
        "run_not_under_way",
        "service_exists",
        "service_busy",
        "port_taken",
        "no_former_revision",
        "model_in_use",
        "registered_model_exists",
        "parameter_fixed",
    ),
    410: ("log_dropped",),
    413: ("too_large",),
    416: ("bad_range",),
    422: (
        "content_mismatch",
        "unknown_target",
        "source_unreachable",
        "source_empty",
        "datastore_unreachable",
        "invalid_run",
        "too_many_nodes",
        "invalid_compute",
        "unknown_vm_size",
        "engine_refused",
        "engine_away",
        "service_away",
        "invalid_service",
    ),
    426: ("client_too_old", "client_too_new"),
    500: ("database_damaged", "object_damaged", "internal"),
    503: ("not_ready",),
    507: ("disk_full",),
}
STATUS = {code: status for status, codes in _CODES.items() for code in codes}

LONGEST_TITLE = 2000
"""Characters. A refusal repeats what was sent only as far as a person needs to see it."""

MOST_FIELDS = 20
"""A refusal explains so many wrong fields."""

_DRAINED = 256 << 20
"""How much of a refused upload is still read, so that its sender comes to read the answer."""


class Problem(Exception):
    """A request that the server refuses."""

    def __init__(self, code: str, title: str, help: str = "", detail: Mapping[str, Any] | None = None) -> None:
        super().__init__(title)
        self.code, self.title, self.help, self.detail = code, title, help, dict(detail or {})


def body_of(code: str, title: str, help: str = "", detail: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The problem document itself, as JSON has it."""
    title = title if len(title) <= LONGEST_TITLE else f"{title[:LONGEST_TITLE]}..."
    return {"code": code, "title": title, "help": help, "status": STATUS.get(code, 500), "detail": dict(detail or {})}


def document(
    code: str, title: str, help: str = "", detail: Mapping[str, Any] | None = None, status: int | None = None
) -> Response:
    body = body_of(code, title, help, detail)
    if status is not None:
        body["status"] = status
    headers = {"WWW-Authenticate": "Bearer"} if body["status"] == 401 else None
    return Response(_written(body), body["status"], headers, MEDIA_TYPE)


def _written(body: dict[str, Any]) -> bytes:
    try:
        return orjson.dumps(body, default=str)
    except TypeError:  # it repeats half a character, which JSON can carry and no text has
        return json.dumps(body, default=str, ensure_ascii=False).encode("utf-8", "replace")


def install(app: FastAPI) -> None:
    """Let `app` answer every refusal with a problem document."""
    app.add_exception_handler(Problem, _refused)
    app.add_exception_handler(StoreError, _refused)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    for kind in _BROKEN_RULES:
        app.add_exception_handler(kind, _broken_rule)


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, (Problem, StoreError))
    if STATUS.get(error.code, 500) >= 500:
        log.error("%s %s: %s", request.method, request.url.path, error.title)
    response = document(error.code, error.title, error.help, error.detail)
    if error.code == "bad_range":
        response.headers["Content-Range"] = f"bytes */{error.detail['size']}"
    return response


_BROKEN_RULES: dict[type[Exception], tuple[str, str]] = {
    BadName: ("bad_name", "Choose another name."),
    BadPack: ("bad_pack", "Before the bytes of each object comes a line '<sha256> <size>'."),
    BadManifest: ("bad_manifest", "One JSON array per path: [path, kind, sha256, size, executable, target]."),
    UnicodeEncodeError: ("bad_request", "Send text that can be written in UTF-8."),
}


async def _broken_rule(request: Request, error: Exception) -> Response:
    code, help = next(rule for kind, rule in _BROKEN_RULES.items() if isinstance(error, kind))
    return document(code, str(error), help)


async def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    fields = [
        {"field": ".".join(str(step) for step in each["loc"][1:]) or str(each["loc"][0]), "message": str(each["msg"])}
        for each in error.errors()[:MOST_FIELDS]
    ]
    faults = "; ".join(f"{each['field']}: {each['message']}" for each in fields[:5])
    title = f"{request.method} {request.url.path} does not have the form that it needs. {faults}."
    return document("bad_request", title, f"{SCHEMA} describes every request.", {"fields": fields})


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    where = f"{request.method} {request.url.path}"
    if error.status_code == 404:
        return document("not_found", f"There is no {where}.", f"{SCHEMA} lists what there is.")
    if error.status_code == 405:
        return document("method_not_allowed", f"There is no {where}.", f"{SCHEMA} lists what there is.")
    if error.status_code == 413:
        return document("too_large", str(error.detail), too_large(0)[1])
    return document("bad_request", f"{where}: {error.detail}.", status=error.status_code)


def too_large(most: int) -> tuple[str, str]:
    """The problem of a body that would not fit into memory."""
    title = f"The body of the request is larger than {most >> 20} MiB."
    return title, "Send less at once; what is large belongs into a file of the run."


class Refusals:
    """What `install` does, for an application outside of FastAPI. It raises before it answers, or not at all."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._app(scope, receive, send)
        except (Problem, StoreError) as error:
            await (await _refused(Request(scope), error))(scope, receive, send)


class Guard:
    """The outer wall: an exception that nobody expected becomes a problem with an id that is also in the log."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = False
        left = True  # whether more of the body may come

        async def watched_receive() -> Message:
            nonlocal left
            message = await receive()
            left = message["type"] == "http.request" and bool(message.get("more_body", False))
            return message

        async def watched_send(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                # Of what a stranger sends nothing is read: `runyard.server.connections` throws some of it away.
                if message["status"] >= 400 and left and _has_body(scope) and not is_stranger(scope):
                    await _drain(watched_receive, lambda: left)
            await send(message)

        try:
            await self._app(scope, watched_receive, watched_send)
        except ClientDisconnect:
            log.debug("%s %s: the client left", scope["method"], scope["path"])
        except Exception:
            id = secrets.token_hex(6)
            log.exception("%s %s failed (%s)", scope["method"], scope["path"], id)
            if started:
                raise
            title = f"The server failed at this request ({id})."
            response = document("internal", title, f"The server's log says more, at {id}.", {"id": id})
            await response(scope, watched_receive, watched_send)


def _has_body(scope: Scope) -> bool:
    names = {name for name, _ in scope["headers"]}
    return b"content-length" in names or b"transfer-encoding" in names


async def _drain(receive: Receive, more: Any) -> None:
    seen = 0
    while more() and seen < _DRAINED:
        message = await receive()
        seen += len(message.get("body", b""))
