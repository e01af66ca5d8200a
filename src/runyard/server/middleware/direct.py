"""The short way to a route that is asked more often than all others together.

A request that is plainly in order (a known token, this protocol, a body of a declared and bearable length) goes to its
route at once, past the routing and most of the layers that every other request passes. Any other one goes the usual
way, where it is refused with reasons or taken all the same: no rule is decided here.
"""

from __future__ import annotations

import re

from starlette.types import ASGIApp, Receive, Scope, Send

from runyard.contracts import PROTOCOL
from runyard.server.api.description import PlainRoute
from runyard.server.connections import trust
from runyard.server.middleware import body_limit, problems
from runyard.server.middleware.auth import CALLER, Tokens
from runyard.server.middleware.meters import Metered, Meters

_PROTOCOL = str(PROTOCOL).encode("ascii")
_BEARER = b"Bearer "


class Direct:
    """Leads to a route of a run, such as `/api/runs/{run_id}/deliveries`; `usual` is the way of all other requests."""

    def __init__(self, route: PlainRoute, usual: ASGIApp, tokens: Tokens, meters: Meters) -> None:
        self._route, self._usual, self._tokens = route, usual, tokens
        self._methods = route.methods or set()
        self._address = re.compile(re.escape(route.path).replace(r"\{run_id\}", "([^/\0]+)"))
        self._direct = Metered(problems.Guard(problems.Refusals(route.app)), meters)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        way = self._direct if self._is_in_order(scope) else self._usual
        await way(scope, receive, send)

    def _is_in_order(self, scope: Scope) -> bool:
        """Whether all that the usual way would check is certain. Then the scope has what it would have added."""
        if (
            scope["type"] != "http"
            or scope["method"] not in self._methods
            or scope["query_string"]
            or scope["root_path"]
        ):
            return False
        address = self._address.fullmatch(scope["path"])
        if address is None:
            return False
        token, length = b"", b""
        for name, value in scope["headers"]:
            if name == b"authorization":
                token = value
            elif name == b"content-length":
                length = value
            elif name == b"transfer-encoding" or (name == b"x-runyard-protocol" and value != _PROTOCOL):
                return False
        if (
            not length.isdigit()
            or len(length) > 9
            or int(length) > body_limit.MOST_BYTES
            or not token.startswith(_BEARER)
        ):
            return False
        who = self._tokens.identify(token[len(_BEARER) :].decode("latin-1"))
        if who is None:
            return False
        trust(scope)
        scope[CALLER] = who
        scope["path_params"] = {"run_id": address[1]}
        scope["route"] = self._route
        return True
