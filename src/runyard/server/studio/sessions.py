"""The way into the studio: a link from the command line is exchanged once for a session, which a cookie carries."""

from __future__ import annotations

import hmac
import time
from collections import OrderedDict
from datetime import datetime, timezone
from http.cookies import CookieError, SimpleCookie

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.responses import Response

from runyard.server.settings import Settings
from runyard.server.studio import policy
from runyard.store import sessions
from runyard.store.database import Database

_REMEMBERED = 1000
_SECONDS = 10.0
"""For so long it is not looked up again that a session is there: so late another server of the same database may learn
that somebody has signed out."""


class Sessions:
    """The sessions that browsers have with this server."""

    def __init__(self, database: Database, settings: Settings) -> None:
        self._database = database
        # The servers of one machine share their cookies, whatever their ports: each has a name of its own.
        self.cookie = f"runyard_{hmac.new(settings.secret.encode(), b'cookie', 'sha256').hexdigest()[:12]}"
        self._seen: OrderedDict[str, tuple[sessions.Session | None, float]] = OrderedDict()

    async def of(self, headers: Headers) -> sessions.Session | None:
        """The session that a request shows, if there is one under the address that it was sent to."""
        token = self.token_of(headers)
        if token is None:
            return None
        found = await self._look_up(token)
        return found if found is not None and found.host == policy.host_of(headers) else None

    def token_of(self, headers: Headers) -> str | None:
        try:
            cookie = SimpleCookie(headers.get("cookie", "")).get(self.cookie)
        except CookieError:
            return None
        return cookie.value if cookie is not None and cookie.value else None

    def begin_link(self, host: str) -> tuple[str, datetime]:
        with self._database.write() as connection:
            return sessions.begin_link(connection, host)

    def exchange(self, code: str, host: str) -> tuple[str, datetime] | None:
        with self._database.write() as connection:
            return sessions.exchange(connection, code, host)

    def end(self, token: str) -> None:
        with self._database.write() as connection:
            sessions.end(connection, token)
        self._seen.clear()

    def end_all(self) -> int:
        with self._database.write() as connection:
            ended = sessions.end_all(connection)
        self._seen.clear()
        return ended

    def give(self, response: Response, token: str, expires_at: datetime, secure: bool) -> None:
        """Let the browser hold a session."""
        lasts = int((expires_at - datetime.now(timezone.utc)).total_seconds())
        response.set_cookie(self.cookie, token, max_age=lasts, httponly=True, samesite="strict", secure=secure)

    def take(self, response: Response) -> None:
        response.delete_cookie(self.cookie, httponly=True, samesite="strict")

    async def _look_up(self, token: str) -> sessions.Session | None:
        found, at = self._seen.get(token, (None, 0.0))
        if time.monotonic() - at < _SECONDS and (found is None or found.expires_at > datetime.now(timezone.utc)):
            return found
        found = await run_in_threadpool(self._read, token)
        self._seen[token] = found, time.monotonic()
        self._seen.move_to_end(token)
        while len(self._seen) > _REMEMBERED:
            self._seen.popitem(last=False)
        return found

    def _read(self, token: str) -> sessions.Session | None:
        with self._database.read() as connection:
            return sessions.find(connection, token)
