"""A browser without a browser: the way into the studio over plain HTTP, for tests of what is sent and refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

if TYPE_CHECKING:
    from tests.server.conftest import Client


@pytest.fixture
def signed_in() -> Callable[[Client], Client]:
    """Makes of a client with the token one that has nothing but the cookie of a session, and marks its changes."""

    def enter(client: Client) -> Client:
        link = urlsplit(client.ok("POST", "/api/studio/links")["url"])
        stranger = replace(client, token=None)
        answer = stranger.get(f"{link.path}?{link.query}")
        assert answer.status == 200, answer.body
        cookie = answer.headers["set-cookie"].partition(";")[0]
        return replace(stranger, headers={"Cookie": cookie, "X-Runyard-Studio": "1"})

    return enter
