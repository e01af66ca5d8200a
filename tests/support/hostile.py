"""A server of somebody who means ill: it answers every request with what it likes."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

CLIPBOARD = "\x1b]52;c;cm0gLXJmIH4=\x07"
TITLE = "\x1b]0;owned\x07"
CLEAR = "\x1b[2J\x1b[H"
HIDDEN = "\x1b[8m"
CSI = "\x9b2J"
TURNED = "\u202egnp.exe"
EVIL = f"{CLIPBOARD}{TITLE}{CLEAR}{HIDDEN}{CSI}{TURNED}\r\x08\x7f"


WORKSPACE: dict[str, Any] = {
    "name": "local",
    "id": "1",
    "subscription_id": "00000000-0000-0000-0000-000000000000",
    "resource_group": "local",
    "location": "local",
    "friendly_name": None,
    "description": None,
    "tags": {},
    "created_at": "2026-11-15T19:30:00.123456Z",
}


def run(run_id: str, **more: Any) -> dict[str, Any]:
    """A run as a server tells it."""
    told: dict[str, Any] = {
        "id": run_id,
        "number": 1,
        "workspace": "local",
        "experiment": "e",
        "experiment_id": "1",
        "parent_id": None,
        "root_id": run_id,
        "type": "azureml.scriptrun",
        "name": None,
        "display_name": None,
        "description": None,
        "status": "Completed",
        "reason": None,
        "target": "local",
        "nodes": 1,
        "attempt": 1,
        "created_at": "2026-11-15T19:30:00.123456Z",
        "started_at": None,
        "ended_at": None,
        "tags": {},
        "properties": {},
        "submitted_by": None,
        "snapshot_id": None,
        "error": None,
        "warnings": [],
        "web_url": "http://x/",
        "states": [],
        "logs": [],
        "launch": None,
        "definition": {},
    }
    return {**told, **more}


@contextmanager
def serving(answers: Mapping[str, Any]) -> Iterator[str]:
    """A server on a port of its own that answers the paths that end so: bytes as they are, all else as JSON."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            path = self.path.partition("?")[0]
            found = next((answer for end, answer in answers.items() if path.endswith(end)), None)
            body = found if isinstance(found, bytes) else json.dumps(found).encode()
            self.send_response(200 if found is not None else 404)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_PUT = do_GET

        def log_message(self, format: str, *args: object) -> None:
            """Nothing: a test reads what the command says."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
