"""Services whose script cannot start: all of the API can be tried with them, and no process is left."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from tests.support.waiting import wait_until

from runyard.contracts import pack
from runyard.contracts.manifest import FILE, Entry, make

if TYPE_CHECKING:
    from tests.server.conftest import Client

BASE = "/api/workspaces/local/services"
BROKEN = b"def init():\n    raise KeyError('gone')\n\ndef run(data):\n    return 1\n"


def launch(client: Client, script: bytes = BROKEN, name: str = "score.py") -> dict[str, Any]:
    """The launch of a script that the server has then."""
    digest = hashlib.sha256(script).hexdigest()
    manifest = make([Entry(name, FILE, digest, len(script))])
    client.ok("POST", "/api/objects", body=pack.header(digest, len(script)) + script)
    client.ok("PUT", f"/api/snapshots/{manifest.id}", body=manifest.text)
    return {"snapshot_id": manifest.id, "entry_script": name}


def deploy(client: Client, name: str = "mine", **more: Any) -> Any:
    body = {"name": name, "launch": launch(client), **more}
    return client.call("POST", BASE, body)


def ended(client: Client, name: str = "mine") -> Any:
    def found() -> Any:
        service = client.ok("GET", f"{BASE}/{name}?wait=10")
        return service if service["operation"]["state"] != "Running" else None

    return wait_until(found, "the end of the operation")
