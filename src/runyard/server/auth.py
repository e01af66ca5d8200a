"""Who asks, and what they may reach: the user, a run, or somebody with the link to one run's page.

A run token is signed, not stored, so it needs no look-up and dies with the secret. It reaches its run and the run's
descendants, and can neither delete nor look around.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.concurrency import run_in_threadpool

from runyard.server.problems import Problem
from runyard.server.yard import Here, Yard
from runyard.store import runs

_bearer = HTTPBearer(auto_error=False, description="The user's token, or the token of a run.")


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


def same(told: str, expected: str) -> bool:
    """Compare in a time that says nothing of where the two differ."""
    return hmac.compare_digest(told.encode("utf-8", "surrogatepass"), expected.encode("utf-8"))


async def caller(credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)], yard: Here) -> Caller:
    """Whoever has a token of any kind."""
    if credentials is None:
        raise Problem("not_authenticated", "The request carries no token.", _WHERE)
    token = credentials.credentials
    if same(token, yard.settings.token):
        return Caller()
    run_id = token.removeprefix("run.").rpartition(".")[0]
    if run_id and same(token, run_token(yard.settings.secret, run_id)):
        yard.scheduler.contact(run_id)
        return Caller(run_id)
    raise Problem("not_authenticated", "The server does not know this token.", _WHERE)


AnyCaller = Annotated[Caller, Depends(caller)]


async def user(caller: AnyCaller) -> Caller:
    """The user, and no run."""
    if caller.run_id is not None:
        raise not_allowed(caller.run_id, "This request needs the user's token.")
    return caller


async def uploader(caller: AnyCaller, yard: Here) -> Caller:
    """Whoever may add content: the user, or a run that is still in the history."""
    if caller.run_id is not None:
        await run_in_threadpool(_exists, yard, caller.run_id)
    return caller


async def reachable(run_id: str, caller: AnyCaller, yard: Here) -> str:
    """The run that the path names, when the caller may reach it."""
    if caller.run_id not in (None, run_id):
        await run_in_threadpool(must_reach, yard, caller, run_id)
    return run_id


User = Depends(user)
Uploader = Annotated[Caller, Depends(uploader)]
ReachableRun = Annotated[str, Depends(reachable)]


def must_reach(yard: Yard, caller: Caller, run_id: str) -> None:
    """Refuse a run that is neither the caller's own nor one of its descendants. One that is not there is no different:
    a run's token tells nothing about other runs."""
    if caller.run_id in (None, run_id):
        return
    with yard.store.database.read() as connection:
        line = runs.ancestors(connection, run_id)
    if caller.run_id not in line:
        raise not_allowed(str(caller.run_id), f"{run_id!r} is not the run of this token, nor a descendant of it.")


def not_allowed(run_id: str, title: str) -> Problem:
    help = (
        f"The token of run {run_id!r} reads and reports that run and its descendants, makes child runs of it, "
        "adds content, and fetches its snapshot. For all else use the user's token."
    )
    return Problem("not_allowed", title, help)


def _exists(yard: Yard, run_id: str) -> None:
    with yard.store.database.read() as connection:
        runs.get(connection, run_id)


def _sign(secret: str, text: str) -> str:
    signature = hmac.new(secret.encode("utf-8"), text.encode("utf-8", "surrogatepass"), hashlib.sha256).digest()
    return base64.urlsafe_b64encode(signature).rstrip(b"=").decode("ascii")


_WHERE = (
    "Send `Authorization: Bearer <token>`. The user's token is in the file `token` of the server's home folder, "
    "or what its operator chose."
)
