"""A body that is read whole may not be larger than memory bears. Files, logs, journals and packs have no limit: they
are taken in piece by piece."""

from __future__ import annotations

from collections.abc import Iterable

from fastapi.routing import APIRoute
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from runyard.server.middleware.problems import document, too_large

MOST_BYTES = 16 << 20
"""Of a body that is read whole: JSON, in which nothing that we send comes near to this."""


class BodyLimit:
    """ASGI middleware. The descriptions of the `routes` show which take bodies of any size."""

    def __init__(self, app: ASGIApp, routes: Iterable[BaseRoute]) -> None:
        self._app = app
        self._unbounded = [route for route in routes if isinstance(route, APIRoute) and _takes_pieces(route)]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        length = _told_length(scope)
        if (length is not None and length <= MOST_BYTES) or self._is_unbounded(scope):
            await self._app(scope, receive, send)
        elif length is not None:
            await document("too_large", *too_large(MOST_BYTES))(scope, receive, send)
        else:
            await self._app(scope, _counted(receive), send)

    def _is_unbounded(self, scope: Scope) -> bool:
        return any(
            scope["method"] in (route.methods or ()) and route.path_regex.match(scope["path"])
            for route in self._unbounded
        )


def _takes_pieces(route: APIRoute) -> bool:
    content = (route.openapi_extra or {}).get("requestBody", {}).get("content", {})
    return bool(content) and "application/json" not in content


def _told_length(scope: Scope) -> int | None:
    """The declared length of the body; None when it comes in chunks."""
    headers = Headers(scope=scope)
    if "transfer-encoding" in headers:
        return None
    length = headers.get("content-length", "0")
    return int(length) if length.isascii() and length.isdigit() else None


def _counted(receive: Receive) -> Receive:
    seen = 0

    async def bounded() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > MOST_BYTES:
            raise HTTPException(413, too_large(MOST_BYTES)[0])
        return message

    return bounded
