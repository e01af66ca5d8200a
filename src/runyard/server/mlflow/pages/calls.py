"""Pages call MLflow's protocol at addresses of their own, `ajax-api/...`: they mean what `api/...` means, where
there is such a thing here."""

from __future__ import annotations

import re

from starlette.types import ASGIApp, Receive, Scope, Send

from runyard.server.mlflow.pages.absent import NOTHING

_ADDRESS = re.compile(r"(/mlflow/[^/]+)/ajax-api/(?s:(.*))")


class PageCalls:
    """ASGI middleware: leads the calls of pages to the protocol."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        found = _ADDRESS.fullmatch(scope["path"]) if scope["type"] == "http" else None
        if found is not None and found[2] not in NOTHING:
            scope["path"] = f"{found[1]}/api/{found[2]}"
        await self._app(scope, receive, send)
