"""Sessions of the studio: a link works once, in time and under its own address, and nothing that signs in is stored."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest
from sqlalchemy import select, update

from runyard.store import sessions
from runyard.store.database import Database
from runyard.store.tables import studio_sessions

HOST = "127.0.0.1:7420"


def test_a_link_becomes_one_session(database: Database) -> None:
    with database.write() as connection:
        code, _ = sessions.begin_link(connection, HOST)
        assert sessions.find(connection, code) is None
        made = sessions.exchange(connection, code, HOST)
        assert made is not None
        assert sessions.exchange(connection, code, HOST) is None
        found = sessions.find(connection, made[0])
        assert found is not None
        assert (found.host, found.expires_at) == (HOST, made[1])
        stored = [bytes(each) for each in connection.scalars(select(studio_sessions.c.hash))]
        assert len(stored) == 1
        assert made[0].encode() not in stored
        sessions.end(connection, made[0])
        assert sessions.find(connection, made[0]) is None


@pytest.mark.parametrize("wrong", ["host", "late", "unknown"])
def test_links_that_open_nothing(database: Database, wrong: str) -> None:
    with database.write() as connection:
        code, _ = sessions.begin_link(connection, HOST)
        if wrong == "late":
            _expire(connection)
        host = "evil.example" if wrong == "host" else HOST
        assert sessions.exchange(connection, "x" if wrong == "unknown" else code, host) is None


def test_sessions_expire_and_can_all_be_ended(database: Database) -> None:
    with database.write() as connection:
        tokens = []
        for _ in range(2):
            made = sessions.exchange(connection, sessions.begin_link(connection, HOST)[0], HOST)
            assert made is not None
            tokens.append(made[0])
        unused, _ = sessions.begin_link(connection, HOST)
        assert sessions.end_all(connection) == 2
        assert [sessions.find(connection, token) for token in tokens] == [None, None]
        assert sessions.exchange(connection, unused, HOST) is None
        last = sessions.exchange(connection, sessions.begin_link(connection, HOST)[0], HOST)
        assert last is not None
        _expire(connection)
        assert sessions.find(connection, last[0]) is None
        assert sessions.end_all(connection) == 0


def _expire(connection: object) -> None:
    past = datetime.now(timezone.utc) - timedelta(seconds=1)
    connection.execute(update(studio_sessions).values(expires_at=past))  # type: ignore[attr-defined]
