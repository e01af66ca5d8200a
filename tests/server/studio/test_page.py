"""Pages and the workspace's name in their address: a refusal is a page, with the status that it has elsewhere."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.server.conftest import Client


def test_refusals_are_pages_for_whoever_is_not_signed_in(here: Client) -> None:
    answer = replace(here, token=None).get("/studio/local/runs")
    assert (answer.status, answer.headers["cache-control"]) == (401, "no-store")
    assert b"You are not signed in" in answer.body
    assert here.get("/studio/local/runs").status == 401  # a token is no session
