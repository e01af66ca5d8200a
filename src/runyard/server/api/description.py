"""What /openapi.json has beyond FastAPI's routes: those that are plain ASGI, and which token each route needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI
from starlette.routing import Match, Route
from starlette.types import ASGIApp, Receive, Scope, Send

OPEN = ("/", "/health", "/ready")
"""Routes that ask for no token at all."""

_TOKEN = {"type": "http", "scheme": "bearer", "description": "The user's token, or the token of a run."}
_KEY = {"type": "apiKey", "in": "query", "name": "key", "description": "The key in a run's `web_url`."}


class PlainRoute(Route):
    """A route whose endpoint is an ASGI application, for requests that come too often for FastAPI's parsing."""

    def __init__(self, path: str, endpoint: ASGIApp, method: str, operation: Mapping[str, Any]) -> None:
        """`operation` describes it in OpenAPI's form."""
        super().__init__(path, endpoint, methods=[method])
        self.described = {method.lower(): dict(operation)}

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        match, child_scope = super().matches(scope)
        if match is not Match.NONE:
            child_scope["route"] = self  # as FastAPI's do, for the meters
        return match, child_scope


class DescribedApp(FastAPI):
    """`direct` is the way of every request, once it is set: it leads to a route, or to `usual`."""

    direct: ASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["app"] = self
        await (self.direct or self.usual)(scope, receive, send)

    async def usual(self, scope: Scope, receive: Receive, send: Send) -> None:
        await super().__call__(scope, receive, send)

    def openapi(self) -> dict[str, Any]:
        if self.openapi_schema is None:
            described = super().openapi()
            for route in self.router.routes:
                if isinstance(route, PlainRoute):
                    described["paths"][route.path_format] = route.described
            described.setdefault("components", {})["securitySchemes"] = {"token": _TOKEN, "key": _KEY}
            for path, methods in described["paths"].items():
                for operation in methods.values():
                    operation["security"] = _needed(path)
        return super().openapi()


def _needed(path: str) -> list[dict[str, list[str]]]:
    if path in OPEN:
        return []
    return [{"key": []}] if path.startswith("/runs/") else [{"token": []}]
