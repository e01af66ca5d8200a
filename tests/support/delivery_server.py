"""A small HTTP server for deliveries of one run, in memory, which does what a test wants when the test wants it.

The real server decides by itself how long it holds a response and when something is out of order. Here the test does:
`pace` and `held` of the receipts, `come()`, `hang_up()`, and `faults`, which are answered in the place of what is due.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from runyard.client.http import Locator
from runyard.contracts.delivery import COME, Delivery, JournalPart, LogPart, Part, decode

Document = dict[str, Any]


def problem(code: str, status: int, **detail: Any) -> Document:
    return {"code": code, "title": f"{code}.", "help": "", "status": status, "detail": detail}


class DeliveryServer:
    """`deliveries` is what came, `files`, `journals` and `facts` what was taken of it."""

    def __init__(self) -> None:
        self.pace, self.held, self.over = 0.0, 0.0, False
        self.deliveries: list[Delivery] = []
        self.connections: list[int] = []  # of each delivery, by the port of the client
        self.targets: list[str] = []
        self.tokens: list[str | None] = []
        self.files: dict[str, bytes] = {}
        self.journals: dict[tuple[str | None, str], bytes] = {}
        self.facts: list[Document] = []
        self.faults: list[Callable[[Delivery], Document | None]] = []
        """For the next deliveries: a problem for all of one, or None for none."""
        self.bad: Callable[[Part], Document | None] = lambda part: None
        self.bad_fact: Callable[[Document], Document | None] = lambda fact: None
        self.receive_only = False  # hang up instead of a receipt, when all is stored
        self.trickle = False  # send responses byte by byte
        self.buffers = False  # send a response when it is complete, as some proxies do
        self._lock = threading.Lock()
        self._holds: list[_Hold] = []
        self._http = _Server(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()

    @property
    def locator(self) -> Locator:
        return Locator(f"http://127.0.0.1:{self._http.server_port}", "a-token")

    @property
    def holds(self) -> int:
        """How many responses are held."""
        return len(self._holds)

    def come(self) -> None:
        """Ask for the next delivery, on every held response."""
        self._end_holds("come")

    def end_holds(self) -> None:
        self._end_holds("end")

    def hang_up(self) -> None:
        self._end_holds("hang up")

    def close(self) -> None:
        self._end_holds("hang up")
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def take(self, delivery: Delivery) -> Document:
        """Store a delivery; the receipt."""
        with self._lock:
            self.deliveries.append(delivery)
            before = [self._take_fact(fact) for fact in delivery.before]
            parts = [self._take_part(part) for part in delivery.parts]
            taken = not any("problem" in answer for answer in parts)
            after = [self._take_fact(fact) if taken else {"skipped": True} for fact in delivery.after]
        receipt = {"status": "Running", "before": before, "parts": parts, "after": after, "pace": self.pace}
        if self.over:
            receipt["over"] = True
        if delivery.hold and self.held:
            receipt["held"] = self.held
        return receipt

    def hold(self) -> str:
        """Wait for what the test wants; how the response is to end."""
        hold = _Hold()
        self._holds.append(hold)
        hold.ended.wait(self.held)
        self._holds.remove(hold)
        return hold.how

    def _end_holds(self, how: str) -> None:
        for hold in list(self._holds):
            hold.how = how
            hold.ended.set()

    def _take_fact(self, fact: Document) -> Document:
        bad = self.bad_fact(fact)
        if bad is not None:
            return {"problem": bad}
        self.facts.append(fact)
        return {}

    def _take_part(self, part: Part) -> Document:
        bad = self.bad(part)
        if bad is not None:
            return {"problem": bad}
        if isinstance(part, LogPart):
            stored = b"" if part.restart else self.files.get(part.name, b"")
            if part.offset > len(stored):
                return {"problem": problem("offset_gap", 409, size=len(stored))}
            self.files[part.name] = stored + part.data[len(stored) - part.offset :]
            return {"size": len(self.files[part.name])}
        assert isinstance(part, JournalPart)
        key = (part.run_id, part.writer)
        stored = self.journals.get(key, b"")
        if part.offset > len(stored):
            return {"problem": problem("offset_gap", 409, offset=len(stored))}
        self.journals[key] = stored + part.data[len(stored) - part.offset :]
        return {"offset": len(self.journals[key])}


@dataclass
class _Hold:
    ended: threading.Event = field(default_factory=threading.Event)
    how: str = "end"


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Nothing: clients hang up when a response is held for longer than they want to wait."""


def _handler(server: DeliveryServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            server.connections.append(self.client_address[1])
            server.targets.append(self.path)
            server.tokens.append(self.headers["Authorization"])
            delivery = decode(self.rfile.read(int(self.headers["Content-Length"])))
            fault = server.faults.pop(0)(delivery) if server.faults else None
            if fault is not None:
                body = json.dumps(fault).encode()
                self.send_response(fault["status"])
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
                return
            receipt = server.take(delivery)
            if server.receive_only:
                server.receive_only = False
                self.close_connection = True
                return
            self.send_response(200)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            if not server.buffers:
                self._chunk(receipt)
            if "held" in receipt:
                how = server.hold()
                if how == "hang up":
                    self.close_connection = True
                    return
                if how == "come":
                    self._chunk(COME)
            if server.buffers:
                self._chunk(receipt)
            self._write(b"0\r\n\r\n")

        def _chunk(self, value: Any) -> None:
            line = json.dumps(value).encode() + b"\n"
            self._write(b"%x\r\n%s\r\n" % (len(line), line))

        def _write(self, content: bytes) -> None:
            pieces = [content[at : at + 1] for at in range(len(content))] if server.trickle else [content]
            for piece in pieces:
                self.wfile.write(piece)
                self.wfile.flush()

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing: the tests look at what came."""

    return Handler


@pytest.fixture
def server() -> Iterator[DeliveryServer]:
    server = DeliveryServer()
    yield server
    server.close()
