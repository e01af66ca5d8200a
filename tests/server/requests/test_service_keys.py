"""Keys of services: who is told them, and what replacing one leaves as it was."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.broken_services import BASE, deploy, ended

if TYPE_CHECKING:
    from tests.server.conftest import Client


def test_keys_are_told_to_the_user_alone_and_only_where_there_are_some(client: Client) -> None:
    deploy(client, settings={"authentication": "key"})
    keys = client.ok("GET", f"{BASE}/mine/keys")
    assert len({keys["primary"], keys["secondary"]}) == 2
    given = client.ok("POST", f"{BASE}/mine/keys", {"key": "Secondary", "value": "a-key-of-my-own-1234"})
    assert given == {"primary": keys["primary"], "secondary": "a-key-of-my-own-1234"}
    assert client.call("POST", f"{BASE}/mine/keys", {"key": "Secondary", "value": "short"}).status == 400
    assert client.call("POST", f"{BASE}/mine/token").code == "invalid_service"
    assert "a-key-of-my-own" not in client.get(f"{BASE}/mine").body.decode()
    ended(client)
    client.ok("DELETE", f"{BASE}/mine")
    deploy(client, "tokens", settings={"authentication": "token"})
    token = client.ok("POST", f"{BASE}/tokens/token")
    assert token["refresh_by"] < token["expires_at"]
    refused = client.get(f"{BASE}/tokens/keys")
    assert refused.code == "invalid_service"
    assert "`runyard services update tokens --set authentication=key`" in refused.json["help"]
    ended(client, "tokens")
    client.ok("DELETE", f"{BASE}/tokens")
