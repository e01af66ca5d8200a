"""Requests that the server alone can answer are passed on to it, with the token of the run and no other."""

from __future__ import annotations

import io
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from tests.node.mlflow.conftest import plan_of

from runyard.node.mlflow.listener import Body, Request
from runyard.node.mlflow.server import Away, Server


def request(method: str, body: bytes = b"", **headers: str) -> Request:
    held = {"authorization": "Bearer local", "content-length": str(len(body)), **headers}
    return Request(method, "/x", "/x?a=b", held, Body(io.BytesIO(body), len(body), False))


def test_requests_and_answers_in_pieces() -> None:
    seen: list[tuple[str, str, str | None, bytes]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            seen.append((self.command, self.path, self.headers["Authorization"], body))
            self.send_response(200)
            self.send_header("Content-Length", "4")
            self.send_header("Content-Range", "bytes 0-3/9")
            self.end_headers()
            self.wfile.write(b"done")

        def log_message(self, *args: object) -> None:
            """Nothing is said of requests."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        passed = Server(plan_of(server_url=f"http://127.0.0.1:{server.server_address[1]}/below/"))
        for size in (10, 1 << 20):
            reply = passed.ask(request("PUT", b"x" * size, range="bytes=0-3"), patience=30)
            assert (reply.status, b"".join(reply.pieces), reply.length) == (200, b"done", 4)
            assert ("Content-Range", "bytes 0-3/9") in reply.headers
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
    assert [(each[0], each[1], each[2], len(each[3])) for each in seen] == [
        ("PUT", "/below/x?a=b", "Bearer run.t", 10),
        ("PUT", "/below/x?a=b", "Bearer run.t", 1 << 20),
    ]
    with pytest.raises(Away):
        passed.ask(request("GET"), patience=0.3)
