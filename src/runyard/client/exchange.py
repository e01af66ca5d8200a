"""HTTP/1.1 over one socket: a request goes out, its response comes back, and the connection serves the next.

It has what the protocol of Runyard needs and nothing else (docs/protocol.md): no proxies, so that requests to this
machine never go through one; no redirects, no cookies, no compression. `http.client` can do no more for us, and takes
longer to import than the rest of a command: it parses headers with the package for e-mail.
"""

from __future__ import annotations

import io
import socket
from typing import Any, Iterable, Iterator, Mapping

LONGEST_LINE = 1 << 16
MOST_HEADERS = 200
JOINED = 1 << 16
"""Bytes up to which a body is sent in one call with its headers."""

_WITH_BODY = frozenset({"POST", "PUT", "PATCH"})


class BadResponse(ConnectionError):
    """What came back is no HTTP response, or broke off."""


class Headers:
    """The headers of a response, by names in any case. Of those that are repeated, the first counts."""

    def __init__(self, fields: Iterable[tuple[str, str]]) -> None:
        self._fields: dict[str, tuple[str, str]] = {}
        for name, value in fields:
            self._fields.setdefault(name.lower(), (name, value))

    def get(self, name: str) -> str | None:
        found = self._fields.get(name.lower())
        return None if found is None else found[1]

    def items(self) -> Iterator[tuple[str, str]]:
        return iter(self._fields.values())


class Connection:
    """A connection to one server; `sock` is None while it is closed. Every failure is an OSError."""

    def __init__(
        self, host: str, port: int | None = None, *, secure: bool = False, timeout: float | None = None
    ) -> None:
        usual = 443 if secure else 80
        self.sock: socket.socket | None = None
        self.timeout = timeout
        self._host, self._port, self._secure = host, usual if port is None else port, secure
        named = f"[{host}]" if ":" in host else host
        self._named = named if self._port == usual else f"{named}:{self._port}"
        self._reader: io.BufferedReader | None = None
        self._method = ""

    def connect(self) -> None:
        # As bytes: Python loads the tables of international names for any text, though this one needs none.
        host: Any = self._host.encode("ascii") if self._host.isascii() else self._host
        opened = socket.create_connection((host, self._port), self.timeout)
        try:
            opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self._secure:
                import ssl

                opened = ssl.create_default_context().wrap_socket(opened, server_hostname=self._host)
        except BaseException:
            opened.close()
            raise
        self.use(opened)

    def use(self, opened: socket.socket) -> None:
        """Talk over a socket that is connected; it is closed with this connection."""
        self.sock, self._reader = opened, opened.makefile("rb")

    def request(
        self, method: str, target: str, body: bytes | Iterable[bytes] | None, headers: Mapping[str, str]
    ) -> None:
        """Send a request. A body in pieces needs a header with its length."""
        if self.sock is None:
            self.connect()
        assert self.sock is not None
        self._method = method
        head = self._head(method, target, body, headers)
        if body is None:
            self.sock.sendall(head)
        elif isinstance(body, bytes):
            if len(body) <= JOINED:
                self.sock.sendall(head + body)
            else:
                self.sock.sendall(head)
                self.sock.sendall(body)
        else:
            self.sock.sendall(head)
            for piece in body:
                self.sock.sendall(piece)

    def getresponse(self) -> Response:
        """The response to the last request. One must be read to its end, or closed, before the next request."""
        if self._reader is None:
            raise BadResponse("the connection is closed")
        return Response(self._reader, self._method)

    def close(self) -> None:
        """Close it; a response that is not read to its end ends here."""
        reader, opened = self._reader, self.sock
        self._reader = self.sock = None
        if opened is not None:
            opened.close()
        if reader is not None:
            reader.close()

    def _head(self, method: str, target: str, body: object, headers: Mapping[str, str]) -> bytes:
        sent = {"Host": self._named, "Accept-Encoding": "identity", **headers}
        if isinstance(body, bytes):
            sent["Content-Length"] = str(len(body))
        elif body is None and method in _WITH_BODY:
            sent["Content-Length"] = "0"
        lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in sent.items())]
        if not target.isascii() or " " in target or any(not line.isprintable() for line in lines):
            raise ValueError(f"this cannot be sent in a request: {target!r} with {sorted(sent)}")
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


class Response:
    """The answer to one request: status and headers are there, the body is read on demand."""

    def __init__(self, reader: io.BufferedReader, method: str) -> None:
        version, self.status = _status(reader)
        while 100 <= self.status < 200:  # only announces the response
            _headers(reader)
            version, self.status = _status(reader)
        self.headers = Headers(_headers(reader))
        said = (self.headers.get("Connection") or "").lower()
        length = _length(self.headers, method, self.status)
        chunked = (self.headers.get("Transfer-Encoding") or "").lower() == "chunked" and length is None
        # A body without a length ends with the connection.
        endless = length is None and not chunked
        self.will_close = endless or "close" in said or (version == "HTTP/1.0" and "keep-alive" not in said)
        self._bytes = None if chunked else _Bytes(reader, length)
        self._body = io.BufferedReader(self._bytes or _Chunks(reader), 1 << 16)

    def read(self, size: int | None = None) -> bytes:
        """So many bytes of the body, fewer at its end; all that is left without a size, BadResponse if it broke off."""
        if size is not None:
            return self._body.read(size)
        content = self._body.read()
        if self._bytes is not None and self._bytes.left:
            raise BadResponse(f"the response broke off {self._bytes.left} bytes before its end")
        return content

    def readline(self, limit: int = -1) -> bytes:
        return self._body.readline(limit)

    def close(self) -> None:
        self._body.close()


class _Bytes(io.RawIOBase):
    """A body of a known length, or up to the end of the connection. One that breaks off ends early."""

    def __init__(self, reader: io.BufferedReader, length: int | None) -> None:
        self._reader, self.left = reader, length

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        room = memoryview(buffer)
        if self.left is not None:
            room = room[: self.left]
        if not room:
            return 0
        count = self._reader.readinto1(room)
        if self.left is not None:
            self.left -= count
        return count


class _Chunks(io.RawIOBase):
    """A body in chunks, each with its length before it. One that breaks off is a BadResponse."""

    def __init__(self, reader: io.BufferedReader) -> None:
        self._reader = reader
        self._left: int | None = 0  # of the present chunk; None after the last one

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if self._left == 0:
            self._left = self._next()
        if self._left is None:
            return 0
        count = self._reader.readinto1(memoryview(buffer)[: self._left])
        if not count:
            raise BadResponse("the response broke off")
        self._left -= count
        if not self._left:
            _line(self._reader)  # ends the chunk
        return count

    def _next(self) -> int | None:
        line = _line(self._reader).partition(b";")[0].strip()
        try:
            size = int(line, 16)
        except ValueError:
            raise BadResponse(f"a chunk of the response begins with {line[:40]!r}") from None
        if size:
            return size
        _headers(self._reader)  # the trailer
        return None


def _line(reader: io.BufferedReader) -> bytes:
    line = reader.readline(LONGEST_LINE)
    if not line.endswith(b"\n"):
        raise BadResponse(
            "the response broke off" if len(line) < LONGEST_LINE else "a line of the response is too long"
        )
    return line


def _status(reader: io.BufferedReader) -> tuple[str, int]:
    line = reader.readline(LONGEST_LINE)
    if not line:
        raise BadResponse("the server closed the connection without a response")
    parts = line.decode("latin-1").split(None, 2)
    if len(parts) < 2 or not parts[0].startswith("HTTP/1.") or not (parts[1].isdigit() and len(parts[1]) == 3):
        raise BadResponse(f"this is no HTTP response: {line[:80]!r}")
    return parts[0], int(parts[1])


def _headers(reader: io.BufferedReader) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    while True:
        line = _line(reader).decode("latin-1").rstrip("\r\n")
        if not line:
            return found
        name, _, value = line.partition(":")
        found.append((name.strip(), value.strip()))
        if len(found) > MOST_HEADERS:
            raise BadResponse("the response has too many headers")


def _length(headers: Headers, method: str, status: int) -> int | None:
    """How many bytes the body has; None when it shows that itself, or ends with the connection."""
    if method == "HEAD" or status in (204, 304):
        return 0
    given = headers.get("Content-Length")
    if given is None or headers.get("Transfer-Encoding") is not None:
        return None
    if not (given.isascii() and given.isdigit()):
        raise BadResponse(f"the response has the length {given[:40]!r}")
    return int(given)
