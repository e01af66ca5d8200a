"""Cookies of sessions: one name per server, and a header of any form is no session."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from starlette.datastructures import Headers

from runyard.server.settings import Settings
from runyard.server.studio.sessions import Sessions
from runyard.store.database import Database


@pytest.fixture
def sessions(database_url: str) -> Sessions:
    return Sessions(Database.open(database_url), Settings(home=Path("/"), secret="s"))


def test_servers_of_one_machine_do_not_share_a_cookie(sessions: Sessions) -> None:
    other = Sessions(sessions._database, Settings(home=Path("/"), secret="t"))
    assert sessions.cookie != other.cookie


def test_a_session_is_known_by_its_cookie_under_its_host_alone(sessions: Sessions) -> None:
    made = sessions.exchange(sessions.begin_link("a:1")[0], "a:1")
    assert made is not None
    cookie = f"other=1; {sessions.cookie}={made[0]}"

    async def of(host: str, cookie: str) -> bool:
        return await sessions.of(Headers({"host": host, "cookie": cookie})) is not None

    assert asyncio.run(of("a:1", cookie))
    assert not asyncio.run(of("b:1", cookie))
    for wrong in ("", "=", f"{sessions.cookie}=", f"{sessions.cookie}=x", ";;;", "\xff" * 100):
        assert not asyncio.run(of("a:1", wrong))
    sessions.end(made[0])
    assert not asyncio.run(of("a:1", cookie))
