"""Saved views over the API: names of any characters."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from tests.server.conftest import Client

VIEWS = "/api/workspaces/local/views"


def test_views(here: Client) -> None:
    name = "<b>best / mine</b>"
    here.ok("PUT", f"{VIEWS}/{quote(name, safe='')}", {"query": "sort=-acc"})
    assert [(each["name"], each["query"]) for each in here.ok("GET", VIEWS)["views"]] == [(name, "sort=-acc")]
    here.ok("DELETE", f"{VIEWS}/{quote(name, safe='')}")
    assert here.call("DELETE", f"{VIEWS}/x").code == "not_found"
    assert here.ok("GET", VIEWS)["views"] == []
