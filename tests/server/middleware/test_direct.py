"""If these fail, a request that the server would refuse reaches the most used route by its short way."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from starlette.types import Receive, Scope, Send

from runyard.server.api.description import PlainRoute
from runyard.server.middleware.auth import CALLER, Caller, Tokens, run_token
from runyard.server.middleware.direct import Direct
from runyard.server.middleware.meters import Meters
from runyard.server.settings import Settings

SETTINGS = Settings(home=Path("/nowhere"), token="t" * 20, secret="s3cret")
OWN = f"Bearer {run_token('s3cret', 'r')}"


class Here:
    """Notes which requests came, and says so."""

    def __init__(self) -> None:
        self.scopes: list[Scope] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.scopes.append(scope)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})


def way_of(headers: dict[str, str], **more: Any) -> tuple[str, Scope]:
    route, usual, meters = Here(), Here(), Meters()
    direct = Direct(PlainRoute("/api/runs/{run_id}/deliveries", route, "POST", {}), usual, Tokens(SETTINGS), meters)
    scope: Scope = {
        "type": "http",
        "method": "POST",
        "path": "/api/runs/r/deliveries",
        "query_string": b"",
        "root_path": "",
        "headers": [(name.lower().encode(), value.encode("latin-1")) for name, value in headers.items()],
        **more,
    }

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        pass

    asyncio.run(direct(scope, receive, send))
    (found,) = route.scopes + usual.scopes
    if route.scopes:
        assert meters.requests == {("POST", "/api/runs/{run_id}/deliveries", 200): 1}
    return ("direct" if route.scopes else "usual"), found


@pytest.mark.parametrize("more", [{}, {"X-Runyard-Protocol": "1"}, {"X-Other": "x"}])
def test_what_is_in_order_goes_the_short_way(more: dict[str, str]) -> None:
    way, scope = way_of({"Authorization": OWN, "Content-Length": "3", **more})
    assert way == "direct"
    assert scope[CALLER] == Caller("r")
    assert scope["path_params"] == {"run_id": "r"}
    assert way_of({"Authorization": f"Bearer {SETTINGS.token}", "Content-Length": "3"})[1][CALLER] == Caller()


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Content-Length": "3"},
        {"Authorization": OWN},
        {"Authorization": OWN, "Content-Length": ""},
        {"Authorization": OWN, "Content-Length": "-3"},
        {"Authorization": OWN, "Content-Length": "\xb2"},
        {"Authorization": OWN, "Content-Length": str(17 << 20)},
        {"Authorization": OWN, "Content-Length": "9" * 100_000},
        {"Authorization": OWN, "Content-Length": "3", "Transfer-Encoding": "chunked"},
        {"Authorization": OWN, "Content-Length": "3", "X-Runyard-Protocol": "2"},
        {"Authorization": OWN, "Content-Length": "3", "X-Runyard-Protocol": ""},
        {"Authorization": f"{OWN}x", "Content-Length": "3"},
        {"Authorization": "Bearer ", "Content-Length": "3"},
        {"Authorization": "Bearer \xff\xfe", "Content-Length": "3"},
        {"Authorization": f"Basic {SETTINGS.token}", "Content-Length": "3"},
    ],
)
def test_whatever_is_uncertain_goes_the_usual_way(headers: dict[str, str]) -> None:
    way, scope = way_of(headers)
    assert way == "usual"
    assert CALLER not in scope


@pytest.mark.parametrize(
    "more",
    [
        {"type": "websocket"},
        {"method": "GET"},
        {"path": "/api/runs/r/facts"},
        {"path": "/api/runs/a/b/deliveries"},
        {"path": "/api/runs/a\0/deliveries"},
        {"path": "/api/runs//deliveries"},
        {"path": "/x/api/runs/r/deliveries"},
        {"path": "/api/runs/r/deliveries/"},
        {"query_string": b"a=%00"},
        {"root_path": "/below"},
    ],
)
def test_other_requests_go_the_usual_way(more: dict[str, Any]) -> None:
    assert way_of({"Authorization": OWN, "Content-Length": "3"}, **more)[0] == "usual"
