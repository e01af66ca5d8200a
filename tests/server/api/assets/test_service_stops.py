"""Stopping all services with the server, where there are none."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.server.conftest import Client


def test_it_answers_when_nothing_is_left(client: Client) -> None:
    assert client.ok("POST", "/api/services/stop") == {"stopped": 0}
