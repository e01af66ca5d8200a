"""A web server for tests that gives files out of memory: with ranges or without, cut off, or refusing."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class WebFiles:
    """What the server gives; tests change it while it runs."""

    url: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    refused: dict[str, int] = field(default_factory=dict)  # statuses by path
    no_head: bool = False
    no_ranges: bool = False
    cut_after: dict[str, int] = field(default_factory=dict)  # the first answer with a path ends after so many bytes
    always_cut: int | None = None  # every answer ends after so many bytes
    hold: threading.Event | None = None  # a body waits for this after its first byte
    etags: dict[str, str] = field(default_factory=dict)
    requests: list[tuple[str, str, str]] = field(default_factory=list)  # method, path, range


@contextmanager
def web_files(**files: bytes) -> Iterator[WebFiles]:
    served = WebFiles(files=dict(files))

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_HEAD(self) -> None:
            self._answer(with_body=False)

        def do_GET(self) -> None:
            self._answer(with_body=True)

        def _answer(self, with_body: bool) -> None:
            path = self.path.partition("?")[0].rpartition("/")[2]
            asked = self.headers.get("Range", "")
            served.requests.append((self.command, path, asked))
            status = served.refused.get(path, 200 if path in served.files else 404)
            if not with_body and served.no_head:
                status = 405
            content = served.files.get(path, b"") if status == 200 else b""
            begin, end = 0, len(content)
            found = re.fullmatch(r"bytes=(\d+)-(\d*)", asked)
            if found and status == 200 and not served.no_ranges:
                begin, end = int(found[1]), min(int(found[2]) + 1 if found[2] else end, end)
                status = 206
            self.send_response(status)
            if status == 206:
                self.send_header("Content-Range", f"bytes {begin}-{end - 1}/{len(content)}")
            self.send_header("Content-Length", str(end - begin))
            self.send_header("ETag", served.etags.get(path, f'"{hash(content):x}"'))
            self.end_headers()
            if not with_body:
                return
            cut = served.cut_after.pop(path, served.always_cut)
            body = content[begin:end] if cut is None else content[begin : min(begin + cut, end)]
            if served.hold is not None:
                self.wfile.write(body[:1])
                served.hold.wait(60)
                body = body[1:]
            with suppress(ConnectionError):
                self.wfile.write(body)
            if cut is not None:
                self.close_connection = True

        def log_message(self, *_: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    served.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield served
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
