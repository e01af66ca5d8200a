"""Keys and tokens of services, shown and replaced."""

from __future__ import annotations

import secrets as random
import time
from datetime import datetime, timezone
from typing import Any

from runyard.contracts.services import access
from runyard.contracts.services.settings import KEY, NO_KEY, TOKEN
from runyard.server.context import ServerContext
from runyard.server.middleware.problems import Problem
from runyard.server.requests import service as requests
from runyard.server.requests.service import KeyRequest
from runyard.server.responses.documents import timestamp
from runyard.store.assets import services
from runyard.store.assets.services import Service

Json = dict[str, Any]

TOKEN_SECONDS = 12 * 3600
REFRESH_AFTER = 0.8
"""Tokens hold for so long, and are to be renewed after that part of it."""


def keys(context: ServerContext, workspace: str, name: str) -> Json:
    row = _read(context, workspace, name)
    if row.settings.authentication != KEY:
        raise _no_keys(row)
    return {each: context.secrets.value(row.keys[each]) for each in ("primary", "secondary")}


def renew_key(context: ServerContext, workspace: str, name: str, asked: KeyRequest) -> Json:
    row = _read(context, workspace, name)
    if row.settings.authentication != KEY:
        raise _no_keys(row)
    which = asked.key.lower()
    value = asked.value or random.token_urlsafe(32)
    new = context.secrets.keep_own(value)
    try:
        with context.store.database.write() as connection:
            row = services.get(connection, workspace, name)
            before = row.keys[which]
            row = services.change(connection, row, keys={**row.keys, which: new})
    except BaseException:
        context.secrets.forget(new)
        raise
    context.secrets.forget(before)
    context.scheduler.services.write_access(row)
    return {each: context.secrets.value(row.keys[each]) for each in ("primary", "secondary")}


def token(context: ServerContext, workspace: str, name: str) -> Json:
    row = _read(context, workspace, name)
    if row.settings.authentication != TOKEN:
        raise requests.bad(
            f"The service {name!r} asks for {_asks_for(row)}: tokens are for services with `authentication` 'token' "
            "(token_auth_enabled=True)."
        )
    now = time.time()
    until = now + TOKEN_SECONDS
    made = access.issue_token(context.secrets.value(row.keys["signing"]), row.name, now, until)
    refresh = datetime.fromtimestamp(now + REFRESH_AFTER * TOKEN_SECONDS, timezone.utc)
    return {
        "token": made,
        "refresh_by": timestamp(refresh),
        "expires_at": timestamp(datetime.fromtimestamp(until, timezone.utc)),
    }


def _no_keys(row: Service) -> Problem:
    title = f"The service {row.name!r} asks for {_asks_for(row)}, so it has no keys to show."
    help = f"`runyard services update {row.name} --set authentication=key` has it ask for one."
    return Problem("invalid_service", title, help)


def _asks_for(row: Service) -> str:
    return {NO_KEY: "no key", KEY: "a key", TOKEN: "a token"}[row.settings.authentication]


def _read(context: ServerContext, workspace: str, name: str) -> Service:
    with context.store.database.read() as connection:
        return services.get(connection, workspace, name)
