"""Links into the studio are the user's to make, and no run's."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.server.conftest import Client


def test_links_are_for_the_user(here: Client) -> None:
    made = here.ok("POST", "/api/studio/links")
    assert made["url"].startswith(f"{here.url}/studio/enter?code=")
    assert made["expires_at"] > "2026"
    run = here.as_run(here.make_run())
    assert run.call("POST", "/api/studio/links").code == "not_allowed"
    assert run.call("DELETE", "/api/studio/sessions").code == "not_allowed"
    assert here.ok("DELETE", "/api/studio/sessions/own") == {"ended": 0}
