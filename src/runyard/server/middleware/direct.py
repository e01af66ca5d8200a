"""The short way to a route that is asked more often than all others together.

A request that is plainly in order (a known token, this protocol, a body of a declared and bearable length) goes to its
route at once, past the routing and most of the layers that every other request passes. Any other one goes the usual
way, where it is refused with reasons or taken all the same: no rule is decided here.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from starlette.types import ASGIApp, Receive, Scope, Send

from runyard.contracts import PROTOCOL
from runyard.server.api.description import PlainRoute
from runyard.server.connections import trust
from runyard.server.middleware import body_limit, problems
from runyard.server.middleware.auth import CALLER, Caller, Tokens
from runyard.server.middleware.meters import Metered, Meters

_PROTOCOL = str(PROTOCOL).encode("ascii")
_BEARER = b"Bearer "


_REMEMBERED = 1 << 14
"""Addresses with their tokens whose meaning is remembered: those of so many runs."""


class Direct:
    """Leads to a route of a run, such as `/api/runs/{run_id}/deliveries`; `usual` is the way of all other requests.
    `in_order` is told of each that goes there directly."""

    def __init__(
        self,
        route: PlainRoute,
        usual: ASGIApp,
        tokens: Tokens,
        meters: Meters,
        in_order: Callable[[Scope], None] = lambda scope: None,
    ) -> None:
        self._route, self._usual, self._tokens, self._in_order = route, usual, tokens, in_order
        self._methods = route.methods or set()
        self._address = re.compile(re.escape(route.path).replace(r"\{run_id\}", "([^/\0]+)"))
        self._direct = Metered(problems.Guard(problems.Refusals(route.app)), meters)
        # To check a token takes longer than all else here, and a run sends the same one every few seconds.
        self._known: dict[tuple[str, bytes], tuple[str, Caller]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._is_in_order(scope):
            self._in_order(scope)
            await self._direct(scope, receive, send)
        else:
            await self._usual(scope, receive, send)

    def _is_in_order(self, scope: Scope) -> bool:
        """Whether all that the usual way would check is certain. Then the scope has what it would have added."""
        if (
            scope["type"] != "http"
            or scope["method"] not in self._methods
            or scope["query_string"]
            or scope["root_path"]
        ):
            return False
        token, length = b"", b""
        for name, value in scope["headers"]:
            if name == b"authorization":
                token = value
            elif name == b"content-length":
                length = value
            elif name == b"transfer-encoding" or (name == b"x-runyard-protocol" and value != _PROTOCOL):
                return False
        if not length.isdigit() or len(length) > 9 or int(length) > body_limit.MOST_BYTES:
            return False
        known = self._known.get((scope["path"], token)) or self._identify(scope["path"], token)
        if known is None:
            return False
        trust(scope)
        scope["path_params"] = {"run_id": known[0]}
        scope[CALLER] = known[1]
        scope["route"] = self._route
        return True

    def _identify(self, path: str, token: bytes) -> tuple[str, Caller] | None:
        """The run of an address, and who has sent the token; None when one of them is not as it should be."""
        address = self._address.fullmatch(path)
        if address is None or not token.startswith(_BEARER):
            return None
        who = self._tokens.identify(token[len(_BEARER) :].decode("latin-1"))
        if who is None:
            return None
        if len(self._known) >= _REMEMBERED:
            self._known.clear()
        known = self._known[path, token] = address[1], who
        return known
