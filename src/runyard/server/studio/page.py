"""What the routes of pages share: who may see them, and refusals that are pages too."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.datastructures import Headers
from starlette.responses import Response

from runyard.server.connections import trust
from runyard.server.context import context_of
from runyard.server.middleware.problems import STATUS, Problem
from runyard.server.studio import policy, templating
from runyard.store.errors import StoreError
from runyard.store.sessions import Session


class SharedRoute(APIRoute):
    """A route whose refusals are read by people, whoever they are."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        answer = super().get_route_handler()

        async def shown(request: Request) -> Response:
            try:
                self.admit(request)
                return await answer(request)
            except (Problem, StoreError) as error:
                return refusal(request, error.code, error.title, error.help)
            except RequestValidationError:
                return refusal(request, "bad_request", "This address does not have the form that the page needs.", "")

        return shown

    def admit(self, request: Request) -> None:
        """Raise where the request must not come as far as its route: the link of a run is asked for its key there."""


class PageRoute(SharedRoute):
    """A route of whoever is signed in."""

    def admit(self, request: Request) -> None:
        _must_be_own_name(request)


def pages(prefix: str) -> APIRouter:
    """A router for pages below an address. They are no part of the API."""
    return APIRouter(prefix=prefix, route_class=PageRoute, include_in_schema=False)


async def viewer(request: Request) -> Session:
    """Whoever is signed in."""
    session = await context_of(request).sessions.of(Headers(scope=request.scope))
    if session is None:
        raise Problem("not_authenticated", "You are not signed in.", "")
    trust(request.scope)
    return session


Viewer = Annotated[Session, Depends(viewer)]
Version = Annotated[int | None, Query(ge=1, lt=10**18)]
"""Of what the page shows: the newest without one."""


def refusal(request: Request, code: str, title: str, help: str) -> Response:
    """A page that says what is wrong and where to go on."""
    status = STATUS.get(code, 500)
    template = "signed_out.html" if code == "not_authenticated" else "problem.html"
    return templating.plain(request, template, status, title=title, help=help, code=code)


def _must_be_own_name(request: Request) -> None:
    headers, context = Headers(scope=request.scope), context_of(request)
    host = policy.host_of(headers)
    if not policy.is_own_name(host, context.settings) and context.sessions.token_of(headers) is None:
        # What has a session was opened under this name by whoever holds the server's token.
        asked = request.query_params.get("code")
        if asked is None:
            raise Problem(
                "not_allowed",
                f"This server is not known as {host[:200]!r}.",
                "Open the studio with the link that `runyard studio` prints.",
            )
