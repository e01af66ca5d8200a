"""Requests go over kept connections and through redirects, and one that hangs can be ended."""

from __future__ import annotations

import contextlib
import http.client
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from tests.support.web_files import web_files

from runyard.client.data.web import Web


@pytest.fixture
def web() -> Iterator[Web]:
    found = Web()
    yield found
    found.close()


def body(web: Web, url: str, begin: int | None = None, end: int | None = None) -> tuple[int, bytes]:
    buffer = memoryview(bytearray(100))
    with web.ask(url, begin, end) as answer:
        found = b""
        while count := answer.readinto(buffer):
            found += bytes(buffer[:count])
        return answer.status, found


def test_ranges_over_one_connection(web: Web) -> None:
    with web_files(a=b"0123456789") as served:
        assert body(web, f"{served.url}/a") == (200, b"0123456789")
        assert body(web, f"{served.url}/a", 2, 5) == (206, b"234")
        assert body(web, f"{served.url}/a", 8) == (206, b"89")
        assert len(web._all) == 1
        assert web.ask(f"{served.url}/none").status == 404


def test_redirects_are_followed_but_not_for_ever() -> None:
    class Leads(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(302 if self.path != "/end" else 200)
            self.send_header("Location", {"/a": "/end", "/file": "file:///etc/passwd"}.get(self.path, "/loop"))
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Leads)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    web, url = Web(), f"http://127.0.0.1:{server.server_port}"
    try:
        assert body(web, f"{url}/a")[0] == 200
        for path in ("/loop", "/file"):
            with pytest.raises(http.client.HTTPException, match="it leads"):
                web.ask(url + path)
    finally:
        web.close()
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_request_that_hangs_ends_when_nobody_waits_any_more(web: Web) -> None:
    with web_files(a=b"0123456789") as served:
        served.hold = threading.Event()
        ended = threading.Event()

        def read() -> None:
            with contextlib.suppress(OSError, http.client.HTTPException, ValueError):
                body(web, f"{served.url}/a")
            ended.set()

        thread = threading.Thread(target=read)
        thread.start()
        while not served.requests:
            pass
        web.close()
        assert ended.wait(20)
        served.hold.set()
        thread.join()
        with pytest.raises(ConnectionError):
            web.ask(f"{served.url}/a")
