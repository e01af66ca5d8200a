"""The short way of what a training loop logs by MLflow's protocol: points, parameters and tags.

To find the route among all others and to take the request apart costs several times what it takes to store a point. So
a request that is plainly in order (a known token, a body of a declared and bearable length, of the form that its route
asks for) is answered here, by the same function. Any other one goes the usual way with what was read of it, where it is
refused with reasons or taken all the same: no rule is decided here.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import orjson
from fastapi.routing import APIRoute
from pydantic import BaseModel, ValidationError
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from runyard.server.connections import trust
from runyard.server.middleware import body_limit, problems
from runyard.server.middleware.auth import CALLER, Tokens, caller_of
from runyard.server.middleware.meters import Metered, Meters
from runyard.server.mlflow import metrics, runs
from runyard.server.mlflow.errors import MlflowErrors
from runyard.server.mlflow.here import Here
from runyard.server.threads import in_writer_thread

_ADDRESS = re.compile(r"/mlflow/([^/\0]+)/api/2\.0/mlflow/runs/([a-z-]+)")
_BEARER = b"Bearer "

Answering = Callable[[Any, Here], Response]

_LOGGING: dict[str, tuple[type[BaseModel], Answering]] = {
    "log-metric": (metrics.LogMetric, metrics.log_metric),
    "log-parameter": (metrics.LogParameter, metrics.log_parameter),
    "log-batch": (metrics.LogBatch, metrics.log_batch),
    "set-tag": (runs.Tag, runs.set_tag),
}
_ROUTES = {
    route.path.rpartition("/")[2]: route
    for route in (*metrics.router.routes, *runs.router.routes)
    if isinstance(route, APIRoute) and route.endpoint in [answering for _, answering in _LOGGING.values()]
}
"""For the meters, which count by the template of a route."""


class ShortWay:
    """`usual` is the way of all other requests."""

    def __init__(self, usual: ASGIApp, tokens: Tokens, meters: Meters) -> None:
        self._usual, self._tokens = usual, tokens
        self._short = Metered(MlflowErrors(problems.Guard(problems.Refusals(_answer))), meters)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        address = _ADDRESS.fullmatch(scope["path"]) if scope["type"] == "http" and scope["method"] == "POST" else None
        if address is None or address[2] not in _LOGGING or not self._is_in_order(scope):
            await self._usual(scope, receive, send)
            return
        body, ended = await _whole(receive)
        if not ended:
            return
        again = _again(body, receive)
        form, answering = _LOGGING[address[2]]
        try:
            given = form.model_validate(orjson.loads(body))
        except (orjson.JSONDecodeError, ValidationError):
            await self._usual(scope, again, send)
            return
        trust(scope)
        scope["route"] = _ROUTES[address[2]]
        scope["runyard.logged"] = (address[1], given, answering)
        await self._short(scope, again, send)

    def _is_in_order(self, scope: Scope) -> bool:
        """Whether all that the usual way would check before it reads the body is certain."""
        if scope["query_string"] or scope["root_path"]:
            return False
        token = length = kind = b""
        for name, value in scope["headers"]:
            if name == b"authorization":
                token = value
            elif name == b"content-length":
                length = value
            elif name == b"content-type":
                kind = value
            elif name == b"transfer-encoding":
                return False
        if (
            kind != b"application/json"
            or not length.isdigit()
            or len(length) > 9
            or int(length) > body_limit.MOST_BYTES
        ):
            return False
        who = self._tokens.identify(token[len(_BEARER) :].decode("latin-1")) if token.startswith(_BEARER) else None
        if who is None:
            return False
        scope[CALLER] = who
        return True


async def _answer(scope: Scope, receive: Receive, send: Send) -> None:
    workspace, given, answering = scope["runyard.logged"]
    context = scope["app"].state.context
    response = await in_writer_thread(answering, given, Here(context, caller_of(scope, context), workspace))
    await response(scope, receive, send)


async def _whole(receive: Receive) -> tuple[bytes, bool]:
    """The body of a request, and whether it has come whole before its sender left."""
    pieces = []
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return b"", False
        pieces.append(message.get("body", b""))
        if not message.get("more_body", False):
            return b"".join(pieces), True


def _again(body: bytes, receive: Receive) -> Receive:
    """A body that was read, to be read once more."""
    left = [body]

    async def replayed() -> Message:
        if left:
            return {"type": "http.request", "body": left.pop(), "more_body": False}
        return await receive()

    return replayed
