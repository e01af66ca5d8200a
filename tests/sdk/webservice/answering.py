"""A small HTTP server that stands for a service where a test is about its caller: it asks for a key that can change."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Answering:
    url: str = ""
    key: str | None = None
    refuse_every: int = 0  # each request of this number in turn gets a 500
    requests: list[tuple[str, bytes, str | None, str | None]] = field(default_factory=list)


@contextmanager
def answering(key: str | None = None) -> Iterator[Answering]:
    told = Answering(key=key)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            shown = self.headers.get("Authorization")
            told.requests.append((self.path, body, self.headers.get("Content-Type"), shown))
            status = 401 if told.key is not None and shown != f"Bearer {told.key}" else 200
            if told.refuse_every and len(told.requests) % told.refuse_every == 0:
                status = 500
            content = json.dumps({"got": body.decode()}).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    told.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield told
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
