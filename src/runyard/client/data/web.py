"""Requests for bytes of a file on the web: over kept connections, in ranges, through redirects. Nothing is retried."""

from __future__ import annotations

import http.client
import socket
import threading
import urllib.request
from contextlib import suppress
from typing import Any, Mapping
from urllib.parse import urljoin, urlsplit

TIMEOUT = 30.0
AGENT = "runyard"
MOST_REDIRECTS = 5

_REDIRECTS = (301, 302, 303, 307, 308)


class Answer:
    """What a web server answered; its body is read piece by piece. Leave the `with` block to let go of it."""

    def __init__(self, response: Any, connection: http.client.HTTPConnection | None) -> None:
        self.status: int = response.status
        self.reason: str = response.reason or ""
        self.headers: Mapping[str, str] = response.headers
        self._response, self._connection = response, connection

    @property
    def length(self) -> int | None:
        found = self.headers.get("Content-Length")
        return int(found) if found is not None and found.isdigit() else None

    def readinto(self, buffer: memoryview) -> int:
        got: int = self._response.readinto(buffer)
        return got

    def __enter__(self) -> Answer:
        return self

    def __exit__(self, *_: object) -> None:
        unread = not self._response.isclosed()
        self._response.close()
        if unread and self._connection is not None:
            self._connection.close()  # the rest of this answer would be read as the next one


class Web:
    """Connections of any number of threads, each with its own, until `close`."""

    def __init__(self) -> None:
        self._mine = threading.local()
        self._all: list[http.client.HTTPConnection] = []
        self._closed = False

    def close(self) -> None:
        """Close all connections. Threads that wait for an answer get an error at once."""
        self._closed = True
        for connection in list(self._all):
            with suppress(OSError, AttributeError):
                connection.sock.shutdown(socket.SHUT_RDWR)
            connection.close()

    def ask(
        self,
        url: str,
        begin: int | None = None,
        end: int | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """The answer to GET; with `begin`, for the bytes from there (to `end`, which is not included)."""
        sent = {"User-Agent": AGENT, "Accept-Encoding": "identity", "Accept": "*/*", **(headers or {})}
        if begin is not None:
            sent["Range"] = f"bytes={begin}-{'' if end is None else end - 1}"
        for _ in range(MOST_REDIRECTS + 1):
            answer = self._once(url, sent)
            target = answer.headers.get("Location")
            if answer.status not in _REDIRECTS or not target:
                return answer
            with answer:
                url = urljoin(url, target)
            if urlsplit(url).scheme not in ("http", "https"):
                raise http.client.HTTPException(f"it leads to {url[:200]}")
        raise http.client.HTTPException(f"it leads on more than {MOST_REDIRECTS} times")

    def _once(self, url: str, headers: Mapping[str, str]) -> Answer:
        parts = urlsplit(url)
        if parts.scheme in urllib.request.getproxies() and not urllib.request.proxy_bypass(parts.hostname or ""):
            return _through_proxy(url, headers)
        connection, kept = self._connection(parts.scheme, parts.netloc)
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        try:
            return _exchange(connection, target, headers)
        except (http.client.HTTPException, OSError) as error:
            connection.close()
            # A connection that was kept may have been closed by the server meanwhile, which says nothing of the file.
            if not kept or isinstance(error, TimeoutError) or self._closed:
                raise
        try:
            return _exchange(connection, target, headers)
        except BaseException:
            connection.close()
            raise

    def _connection(self, scheme: str, netloc: str) -> tuple[http.client.HTTPConnection, bool]:
        """A connection of this thread, and whether it was used before."""
        if self._closed:
            raise ConnectionError("nobody waits for it any more")
        mine: dict[tuple[str, str], http.client.HTTPConnection] = self._mine.__dict__.setdefault("open", {})
        known = mine.get((scheme, netloc))
        if known is not None:
            return known, known.sock is not None
        host = netloc.rpartition("@")[2]
        kind = http.client.HTTPSConnection if scheme == "https" else http.client.HTTPConnection
        made = mine[(scheme, netloc)] = kind(host, timeout=TIMEOUT)
        self._all.append(made)
        return made, False


def _exchange(connection: http.client.HTTPConnection, target: str, headers: Mapping[str, str]) -> Answer:
    connection.putrequest("GET", target, skip_accept_encoding=True)
    for name, value in headers.items():
        connection.putheader(name, value)
    connection.endheaders()
    return Answer(connection.getresponse(), connection)


def _through_proxy(url: str, headers: Mapping[str, str]) -> Answer:
    class Stay(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *_: Any, **__: Any) -> None:
            return None

    class AsItIs(urllib.request.HTTPErrorProcessor):
        def http_response(self, request: Any, response: Any) -> Any:
            return response

        https_response = http_response

    opener = urllib.request.build_opener(Stay, AsItIs)
    return Answer(opener.open(urllib.request.Request(url, headers=dict(headers)), timeout=TIMEOUT), None)
