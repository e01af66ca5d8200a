"""A server that does nothing: what MLflow's client takes with it, it takes with any.

answer_prepared.py PORT ADDRESS     the address of a server that says once how each question is answered

What is logged and sent is read and thrown away. Files come as zeros, as many as were sent last. Any other question is
asked of the server at the address the first time, and answered with the same bytes from then on.
"""

from __future__ import annotations

import json
import socket
import socketserver
import sys
import urllib.request

_PIECE = 1 << 20
_ZEROS = bytes(_PIECE)
_NOTHING = json.dumps({}).encode()
_FILES = "/api/2.0/mlflow-artifacts/artifacts"

_known: dict[tuple[str, str, bytes], bytes] = {}
_sent = 0


class Handler(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True
    upstream = ""

    def handle(self) -> None:
        while line := self.rfile.readline():
            method, target, _ = line.decode("latin-1").split(" ")
            headers = {}
            while (header := self.rfile.readline().strip()) and b":" in header:
                name, _, value = header.partition(b":")
                headers[name.strip().lower().decode("latin-1")] = value.strip().decode("latin-1")
            self._answer(method, target, headers)

    def _answer(self, method: str, target: str, headers: dict[str, str]) -> None:
        size = int(headers.get("content-length", "0"))
        if method == "PUT":
            self._swallow(size, headers)
        elif method == "GET" and f"{_FILES}/" in target:
            self._give(_sent)
        else:
            body = self.rfile.read(size)
            self._say(_NOTHING if "/runs/log-" in target else self._prepared(method, target, body, headers))

    def _prepared(self, method: str, target: str, body: bytes, headers: dict[str, str]) -> bytes:
        key = (method, target, body)
        if key not in _known:
            kept = {name: headers[name] for name in ("authorization", "content-type") if name in headers}
            asked = urllib.request.Request(self.upstream + target, body or None, kept, method=method)
            with urllib.request.urlopen(asked, timeout=60) as answer:
                _known[key] = answer.read()
        return _known[key]

    def _swallow(self, size: int, headers: dict[str, str]) -> None:
        global _sent
        if "chunked" in headers.get("transfer-encoding", ""):
            while count := int(self.rfile.readline(), 16):
                self._drop(count)
                self.rfile.readline()
                size += count
            self.rfile.readline()
        else:
            self._drop(size)
        _sent = size
        self._say(_NOTHING)

    def _drop(self, left: int) -> None:
        while left > 0:
            left -= len(self.rfile.read(min(left, _PIECE)))

    def _say(self, body: bytes) -> None:
        head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
        self.connection.sendall(head.encode() + body)

    def _give(self, left: int) -> None:
        self.connection.sendall(f"HTTP/1.1 200 OK\r\ncontent-length: {left}\r\n\r\n".encode())
        while left > 0:
            self.connection.sendall(_ZEROS[: min(left, _PIECE)])
            left -= _PIECE


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 64


def main(port: str, address: str) -> None:
    Handler.upstream = address
    with Server(("127.0.0.1", int(port)), Handler) as server:
        server.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        server.serve_forever()


if __name__ == "__main__":
    main(*sys.argv[1:])
