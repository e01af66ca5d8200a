from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.server.conftest import on_both_databases

if TYPE_CHECKING:
    from tests.server.conftest import Client

PATH = "/api/workspaces/local/environment-maps"


@on_both_databases
def test_maps_are_put_listed_in_their_order_and_removed(client: Client) -> None:
    assert client.ok("GET", PATH) == {"maps": []}
    client.ok("PUT", PATH, {"pattern": "AzureML-*", "interpreter": "/usr/bin/python3"})
    told = {"name": "other", "python": {"userManagedDependencies": True}}
    maps = client.ok("PUT", PATH, {"pattern": "mine", "definition": told})
    assert maps == {
        "maps": [
            {"pattern": "mine", "interpreter": None, "definition": told},
            {"pattern": "AzureML-*", "interpreter": "/usr/bin/python3", "definition": None},
        ]
    }
    assert client.ok("GET", PATH) == maps
    assert client.ok("DELETE", f"{PATH}?pattern=AzureML-*") == {"maps": maps["maps"][:1]}
    answer = client.call("DELETE", f"{PATH}?pattern=AzureML-*")
    assert (answer.status, answer.code) == (404, "environment_map_not_found")
    assert "'mine'" in answer.json["help"]


def test_what_cannot_be_mapped_is_refused(client: Client) -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"pattern": "a"}, "bad_request"),
        ({"pattern": "a", "interpreter": "/p", "definition": {}}, "bad_request"),
        ({"pattern": "", "interpreter": "/p"}, "bad_request"),
        ({"pattern": "a", "interpreter": "venv/bin/python"}, "bad_request"),
        ({"pattern": "a", "definition": {"python": []}}, "ok"),
        ({"pattern": "a", "definition": {"python": "3.8"}}, "bad_environment"),
        ({"interpreter": "/p"}, "bad_request"),
    ]
    for body, code in cases:
        answer = client.call("PUT", PATH, body)
        assert (answer.code if answer.status >= 300 else "ok") == code, body
    assert client.call("DELETE", PATH).code == "bad_request"
    assert client.get("/api/workspaces/nowhere/environment-maps").code == "workspace_not_found"
