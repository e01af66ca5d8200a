"""Who is signed in to the studio: links that are exchanged once, and the sessions that come of them.

Only hashes are stored: who reads the database cannot sign in with what it holds.
"""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

from sqlalchemy import Connection, delete, insert, select

from runyard.store.tables import studio_sessions

LINK, SESSION = "link", "session"

LIFETIMES = {LINK: timedelta(minutes=10), SESSION: timedelta(days=14)}


@dataclass(frozen=True)
class Session:
    """A browser that is signed in. It is known under one address of the server: names of other sites that lead to this
    machine do not carry it."""

    host: str
    expires_at: datetime


def begin_link(connection: Connection, host: str) -> tuple[str, datetime]:
    """What a link has to carry, and when it expires."""
    return _add(connection, LINK, host)


def exchange(connection: Connection, code: str, host: str) -> tuple[str, datetime] | None:
    """The token of a new session for what a link carries, and when it expires; None for a link that was used, has
    expired, or was made for another address. A link is gone after this."""
    now = datetime.now(timezone.utc)
    used = delete(studio_sessions).where(
        studio_sessions.c.hash == _hash(code),
        studio_sessions.c.kind == LINK,
        studio_sessions.c.host == host,
        studio_sessions.c.expires_at > now,
    )
    return _add(connection, SESSION, host) if connection.execute(used).rowcount else None


def find(connection: Connection, token: str) -> Session | None:
    query = select(studio_sessions.c.host, studio_sessions.c.expires_at).where(
        studio_sessions.c.hash == _hash(token),
        studio_sessions.c.kind == SESSION,
        studio_sessions.c.expires_at > datetime.now(timezone.utc),
    )
    row = connection.execute(query).first()
    return None if row is None else Session(row.host, row.expires_at)


def end(connection: Connection, token: str) -> None:
    """Sign one browser out."""
    connection.execute(delete(studio_sessions).where(studio_sessions.c.hash == _hash(token)))


def end_all(connection: Connection) -> int:
    """Sign every browser out, and make every link useless; how many browsers were signed in."""
    open_ = list(
        connection.scalars(
            select(studio_sessions.c.hash).where(
                studio_sessions.c.kind == SESSION, studio_sessions.c.expires_at > datetime.now(timezone.utc)
            )
        )
    )
    connection.execute(delete(studio_sessions))
    return len(open_)


def _add(connection: Connection, kind: str, host: str) -> tuple[str, datetime]:
    now = datetime.now(timezone.utc)
    connection.execute(delete(studio_sessions).where(studio_sessions.c.expires_at <= now))
    token, expires_at = secrets.token_urlsafe(32), now + LIFETIMES[kind]
    made = {"hash": _hash(token), "kind": kind, "host": host, "created_at": now, "expires_at": expires_at}
    connection.execute(insert(studio_sessions).values(made))
    return token, expires_at


def _hash(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
