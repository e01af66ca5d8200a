"""Who asks: the user, a run, or somebody with the link to one run's page, or to one file of a model. What a run may
reach is in `reach`. The user shows a token, or a browser that is signed in to the studio.

A run token is signed, not stored, so it needs no look-up and dies with the secret.
"""

from __future__ import annotations

import base64
import hmac
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated

from fastapi import Depends, Request
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from runyard.server.connections import trust
from runyard.server.context import ServerContext, context_of
from runyard.server.middleware.problems import Problem, document
from runyard.server.settings import Settings
from runyard.server.studio import policy
from runyard.store.runs import runs

MLFLOW = "/mlflow/"
"""Below it a token may also come as the password of somebody: MLflow's client can be told to send it so."""

CLOSED = ("/api/", "/metrics", MLFLOW)
"""Addresses that are answered only with a token. The page of a run has a key instead; the rest is open."""

_PAGES = re.compile(r"/mlflow/[^/]+(/|/static-files/.*)?", re.DOTALL)
"""MLflow's pages, and the files of their wheel: the pages themselves look for a session, and lead to one."""

_OF_PAGES = re.compile(r"/mlflow/[^/]+/(ajax-api/.*|graphql)", re.DOTALL)
"""What MLflow's pages call."""

CALLER = "runyard.caller"
"""Where the scope of a request has who sent it."""


@dataclass(frozen=True)
class Caller:
    """Who sent a request: the user, or a process of the run `run_id`."""

    run_id: str | None = None


def run_token(secret: str, run_id: str) -> str:
    """What the processes of a run show to the server."""
    return f"run.{run_id}.{_sign(secret, f'run:{run_id}')}"


def view_key(secret: str, run_id: str) -> str:
    """What a link to the page of a run carries."""
    return _sign(secret, f"view:{run_id}")


def link_key(secret: str, what: str) -> str:
    """What a link to one file of a model carries."""
    return _sign(secret, f"link:{what}")


def same(given: str, expected: str) -> bool:
    """Compare in a time that does not depend on where the two differ."""
    return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), expected.encode("utf-8"))


class Tokens:
    """The tokens that the server knows."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def identify(self, token: str) -> Caller | None:
        if same(token, self._settings.token):
            return Caller()
        run_id = token.removeprefix("run.").rpartition(".")[0]
        if run_id and same(token, run_token(self._settings.secret, run_id)):
            return Caller(run_id)
        return None


class Authentication:
    """ASGI middleware: without a token that the server knows, nothing of the API is reached, nor is a body read."""

    def __init__(self, app: ASGIApp, tokens: Tokens) -> None:
        self._app = app
        self._tokens = tokens

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and _is_closed(scope["path"]):
            headers = Headers(scope=scope)
            scheme, _, token = headers.get("Authorization", "").partition(" ")
            bearer = scheme.lower() == "bearer"
            if scheme.lower() == "basic" and scope["path"].startswith(MLFLOW):
                bearer, token = True, _password(token)
            who = self._tokens.identify(token) if bearer else None
            if who is None and not bearer and await _is_signed_in(scope, headers):
                marks = _OF_PAGES.fullmatch(scope["path"]) is None
                foreign = policy.foreign(scope["method"], headers, marks)
                if foreign is not None:
                    help = "Only the pages of this server may use the session of a browser."
                    await document("not_allowed", f"This request was refused. {foreign}", help)(scope, receive, send)
                    return
                who = Caller()
            if who is None:
                title = "The server does not know this token." if bearer else "The request carries no token."
                await document("not_authenticated", title, _WHERE)(scope, receive, send)
                return
            scope[CALLER] = who
            trust(scope)
        await self._app(scope, receive, send)


def _is_closed(path: str) -> bool:
    return path.startswith(CLOSED) and not (path.startswith(MLFLOW) and _PAGES.fullmatch(path))


def _password(credentials: str) -> str:
    """The password of basic authentication; empty when it cannot be read."""
    try:
        return base64.b64decode(credentials, validate=True).decode("utf-8").partition(":")[2]
    except ValueError:
        return ""


async def caller(request: Request) -> Caller:
    """Whoever has a token of any kind. A run that sends a request is alive."""
    return caller_of(request.scope, context_of(request))


def caller_of(scope: Scope, context: ServerContext) -> Caller:
    """The same, for routes that are plain ASGI."""
    who: Caller = scope[CALLER]
    if who.run_id is not None:
        context.scheduler.contact(who.run_id)
    return who


async def user(request: Request) -> None:
    """The user, and no run."""
    run_id = (await caller(request)).run_id
    if run_id is not None:
        raise not_allowed(run_id, "This request needs the user's token.")


async def uploader(request: Request) -> None:
    """Whoever may add content: the user, or a run that is still in the history."""
    run_id = (await caller(request)).run_id
    if run_id is not None:
        await run_in_threadpool(_exists, context_of(request), run_id)


# One dependency per route, each of one function: FastAPI takes its time for every level, at the start and per request.
AnyCaller = Annotated[Caller, Depends(caller)]
User = Depends(user)
Uploader = Depends(uploader)


def not_allowed(run_id: str, title: str) -> Problem:
    help = (
        f"The token of run {run_id!r} reads its workspace, registers environments and submits runs there, and writes "
        "to that run, its ancestors, its descendants and the runs that it has submitted. It deletes nothing and "
        "changes no settings. It is narrowed to the run and its descendants once the run has ended, and for "
        "all runs of a workspace by `runyard config set runs.scope run`. For all else use the user's token."
    )
    return Problem("not_allowed", title, help)


async def _is_signed_in(scope: Scope, headers: Headers) -> bool:
    """Whether a browser shows a session of the studio: that stands for the user's token."""
    context: ServerContext = scope["app"].state.context
    return await context.sessions.of(headers) is not None


def _exists(context: ServerContext, run_id: str) -> None:
    with context.store.database.read() as connection:
        runs.get(connection, run_id)


def _sign(secret: str, text: str) -> str:
    signature = _begun(secret).copy()
    signature.update(text.encode("utf-8", "surrogatepass"))
    return base64.urlsafe_b64encode(signature.digest()).rstrip(b"=").decode("ascii")


@lru_cache(maxsize=8)
def _begun(secret: str) -> hmac.HMAC:
    """A signature that has taken in the secret: that is most of the work, and lets other threads interrupt."""
    return hmac.new(secret.encode("utf-8"), digestmod="sha256")


_WHERE = (
    "Set RUNYARD_TOKEN (over HTTP: send `Authorization: Bearer <token>`). The user's token is in the file `token` of "
    "the server's home folder, or what its operator chose."
)
