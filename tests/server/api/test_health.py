from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from tests.server.conftest import on_both_databases

from runyard import __version__

if TYPE_CHECKING:
    from tests.server.conftest import Client, Served


def test_health_and_readiness_are_open(client: Client) -> None:
    stranger = replace(client, token=None)
    assert stranger.get("/health").json == {"status": "ok"}
    assert stranger.get("/ready").json == {"status": "ready", "database": "ok", "objects": "ok"}


@on_both_databases
def test_the_server_tells_who_it_is(served: Served) -> None:
    told = served.client.ok("GET", "/api/server")
    assert (told["version"], told["protocol"], told["pid"]) == (__version__, 1, os.getpid())
    assert told["home"] == str(served.settings.home)
    assert told["database"] == ("sqlite" if "sqlite" in str(served.settings.database_url) else "postgresql")
    assert told["started_at"].endswith("Z")


def test_a_browser_that_comes_to_the_address_is_told_what_this_is(client: Client) -> None:
    answer = replace(client, token=None).get("/")
    assert answer.status == 200
    assert b"<pre>runyard show @last</pre>" in answer.body
    assert "default-src 'none'" in answer.headers["content-security-policy"]
