"""HTTP/1.1 over one socket: a request goes out, its response comes back, and the connection serves the next.

It has what the protocol of Runyard needs and nothing else (docs/protocol.md): no proxies, so that requests to this
machine never go through one; no redirects, no cookies, no compression. `http.client` can do no more for us, and takes
longer to import than the rest of a command: it parses headers with the package for e-mail.
"""

from __future__ import annotations

import socket
from typing import Any, Iterable, Iterator, Mapping

LONGEST_HEAD = 1 << 16
MOST_HEADERS = 200
RECEIVED_AT_ONCE = 1 << 16
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
        self._received = bytearray()  # and not yet read by a response
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
        self.sock, self._received = opened, bytearray()

    def set_timeout(self, seconds: float) -> None:
        """Set how long a response may let one wait."""
        if self.sock is not None:
            self.sock.settimeout(seconds)

    def usable(self) -> bool:
        """Whether it is open and quiet: one that the server has closed is readable (its end can be read)."""
        import select

        if self.sock is None:
            return False
        poll = select.poll()
        poll.register(self.sock, select.POLLIN)
        return not poll.poll(0)

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
        """The response to the last request. One must be read to its end before the next request."""
        if self.sock is None:
            raise BadResponse("the connection is closed")
        return Response(self.sock, self._received, self._method)

    def close(self) -> None:
        """Close it; a response that is not read to its end ends here."""
        opened, self.sock = self.sock, None
        if opened is not None:
            opened.close()

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
    """The answer to one request: status and headers are there, the body is read as it comes.

    Whoever waits for something else beside the next line looks with `arrived_line`, polls the socket, and calls
    `receive` when there is something to be read.
    """

    def __init__(self, sock: socket.socket, received: bytearray, method: str) -> None:
        self._socket, self._received = sock, received
        self._content = bytearray()  # of the body, and not yet read
        version, self.status, self.headers = self._read_head()
        while 100 <= self.status < 200:  # it only announces the response
            version, self.status, self.headers = self._read_head()
        self._left = _length(self.headers, method, self.status)  # of the body, or of the chunk; None: not known
        encoded = (self.headers.get("Transfer-Encoding") or "").lower()
        self._chunked = self._left is None and encoded == "chunked"
        # A body without a length ends with the connection.
        self._endless = self._left is None and not self._chunked
        said = (self.headers.get("Connection") or "").lower()
        self.will_close = self._endless or "close" in said or (version == "HTTP/1.0" and "keep-alive" not in said)
        self.ended = self._left == 0
        self._decode()

    def read(self, size: int | None = None) -> bytes:
        """So many bytes of the body, fewer where it ends or breaks off; all that is left without a size."""
        while not self.ended and (size is None or len(self._content) < size):
            try:
                self.receive()
            except BadResponse:
                if size is None or not self._content:
                    raise
                break
        return self._taken(len(self._content) if size is None else size)

    def readline(self, limit: int = -1) -> bytes:
        """The next line with its end; b"" at the end of the body."""
        while True:
            found = self._content.find(b"\n") + 1
            if found or self.ended or 0 <= limit <= len(self._content):
                length = found or len(self._content)
                return self._taken(length if limit < 0 else min(limit, length))
            self.receive()

    def arrived_line(self) -> bytes | None:
        """The next line if all of it is here; b"" at the end of the body, None while it is still to come."""
        return self.readline() if self.ended or b"\n" in self._content else None

    @property
    def exhausted(self) -> bool:
        """Whether there is nothing more to be read."""
        return self.ended and not self._content

    @property
    def pending(self) -> bool:
        """Whether something was received that a poll of the socket does not show: TLS has a buffer of its own."""
        return bool(getattr(self._socket, "pending", int)())

    def receive(self) -> None:
        """Take in what has come; waits for it where nothing has. BadResponse when it broke off."""
        if not self._more():
            if not self._endless:
                missing = f" {self._left} bytes before its end" if self._left and not self._chunked else ""
                raise BadResponse(f"the response broke off{missing}")
            self.ended = True
        self._decode()

    def _taken(self, length: int) -> bytes:
        taken = bytes(self._content[:length])
        del self._content[:length]
        return taken

    def _more(self) -> bool:
        chunk = self._socket.recv(RECEIVED_AT_ONCE)
        self._received += chunk
        return bool(chunk)

    def _read_head(self) -> tuple[str, int, Headers]:
        while (end := self._received.find(b"\r\n\r\n")) < 0:
            if len(self._received) > LONGEST_HEAD:
                raise BadResponse("the response has a head without an end")
            if not self._more():
                gone = "the response broke off" if self._received else "the server hung up without a response"
                raise BadResponse(gone)
        head = bytes(self._received[:end]).decode("latin-1")
        del self._received[: end + 4]
        return _parsed(head)

    def _decode(self) -> None:
        """Move what belongs to the body from what was received."""
        while not self.ended:
            if self._chunked and self._left is None and not self._begin_chunk():
                return
            length = len(self._received) if self._left is None else min(self._left, len(self._received))
            self._content += self._received[:length]
            del self._received[:length]
            if self._left is None:
                return
            self._left -= length
            if self._left:
                return
            if not self._chunked:
                self.ended = True
            elif len(self._received) < 2:
                return  # the line end after a chunk is still to come
            else:
                del self._received[:2]
                self._left = None

    def _begin_chunk(self) -> bool:
        end = self._received.find(b"\r\n")
        if end < 0:
            return False
        size = bytes(self._received[:end]).partition(b";")[0].strip()
        try:
            length = int(size, 16)
        except ValueError:
            raise BadResponse(f"a chunk of the response begins with {size[:40]!r}") from None
        if length:
            del self._received[: end + 2]
            self._left = length
            return True
        trailer = self._received.find(b"\r\n\r\n", end)
        if trailer < 0:
            return False
        del self._received[: trailer + 4]
        self.ended = True
        return False


def _parsed(head: str) -> tuple[str, int, Headers]:
    first, *lines = head.split("\r\n")
    parts = first.split(None, 2)
    if len(parts) < 2 or not parts[0].startswith("HTTP/1.") or not (parts[1].isdigit() and len(parts[1]) == 3):
        raise BadResponse(f"this is no HTTP response: {first[:80]!r}")
    if len(lines) > MOST_HEADERS:
        raise BadResponse("the response has too many headers")
    fields = (line.partition(":") for line in lines)
    return parts[0], int(parts[1]), Headers((name.strip(), value.strip()) for name, _, value in fields)


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
