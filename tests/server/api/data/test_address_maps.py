"""Mapped addresses by HTTP: an operator says where data is now, and a mistake is said at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.server.conftest import on_both_databases

if TYPE_CHECKING:
    from tests.server.conftest import Client

PATH = "/api/workspaces/local/data-map"


@on_both_databases
def test_addresses_are_mapped_listed_and_unmapped(client: Client) -> None:
    assert client.ok("GET", PATH) == {"map": {}}
    client.ok("PUT", PATH, {"prefix": "http://gone.org/b/", "place": "/data/b"})
    both = client.ok("PUT", PATH, {"prefix": "http://gone.org/a/", "place": "https://mirror.org/a"})
    assert both == {"map": {"http://gone.org/a/": "https://mirror.org/a", "http://gone.org/b/": "/data/b"}}
    assert client.ok("DELETE", f"{PATH}?prefix=http://gone.org/a/") == {"map": {"http://gone.org/b/": "/data/b"}}
    gone = client.call("DELETE", f"{PATH}?prefix=http://gone.org/a/")
    assert (gone.status, gone.code) == (404, "map_not_found")
    assert "http://gone.org/b/" in gone.json["help"]


def test_what_cannot_be_mapped_is_refused(client: Client) -> None:
    for prefix, place in (("x", "/data"), ("http://h/", "data"), ("http://h/", "/data/../etc")):
        assert client.call("PUT", PATH, {"prefix": prefix, "place": place}).code == "bad_map"
    assert client.get("/api/workspaces/nowhere/data-map").code == "workspace_not_found"
