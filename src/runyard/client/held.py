"""Requests on one connection, whose responses are lines of JSON and may be held open by the server between two lines.

Written over the socket itself: a caller that waits for the next line must be able to wait for something else beside it,
and http.client, which parses headers as e-mail, costs several times as much per request.
"""

from __future__ import annotations

import json
import select
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from runyard.client.problems import problem

if TYPE_CHECKING:
    from runyard.client.http import Client

RECEIVED_AT_ONCE = 1 << 16
LONGEST_HEAD = 1 << 16
REST_WITHIN = 5.0  # seconds for the end of a response whose last line has come


class Held:
    """The requests of one thread, one after the other. The connection is opened with the first and used again while it
    can be; a response that is still open then is given up, with its connection."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._connection: Any = None  # what `Client.open` returns
        self._url = ""  # where the connection leads
        self._response: _Response | None = None
        self._promised = False  # another line of the response

    @property
    def open(self) -> bool:
        """Whether the server may send another line."""
        return self._promised and self._response is not None and not self._response.exhausted

    @property
    def broken(self) -> bool:
        """Whether there is no connection any more, so that the next request needs another one."""
        return self._connection is None

    def post(self, target: str, body: bytes) -> Any:
        """Send a request that may be repeated; returns the first line of the response. Refusals are ClientProblem,
        no response is Unreachable."""
        used = self._settle()
        try:
            try:
                return self._exchange(target, body)
            except ConnectionError:
                if not used:
                    raise
            self.close()  # the server has hung up between two requests: that is no sign of trouble
            return self._exchange(target, body)
        except OSError as error:
            self.close()
            raise self._client.unreachable(error) from error

    def wait(self, seconds: float, wake: int) -> Any:
        """The next line, as soon as it comes; None when the response has ended without one (`open` is false then), when
        the descriptor `wake` can be read, and after `seconds`."""
        response, connection = self._response, self._connection
        deadline = time.monotonic() + seconds
        poll = select.poll()
        poll.register(wake, select.POLLIN)
        if response is None or connection is None or not self.open:
            poll.poll(max(0.0, seconds) * 1000)
            return None
        poll.register(connection.sock, select.POLLIN)
        connection.sock.settimeout(0.0)  # over TLS, something may come that is not for us
        try:
            while True:
                line = response.line()
                if line is not None:
                    self._promised = False
                    return _value(line) if line else None
                if not response.pending:
                    left = max(0.0, deadline - time.monotonic())
                    ready = [descriptor for descriptor, _ in poll.poll(left * 1000)]
                    if not ready or wake in ready:
                        return None
                with suppress(*_nothing_came(connection.sock)):
                    response.receive()
        except OSError:
            self.close()  # whoever waits for another line learns that there will be none
            return None

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = self._response = None
        self._promised = False

    def _settle(self) -> bool:
        """Have a connection to the server's current address that waits for a request; whether it was used before."""
        if self.open or self._url != self._client.url:
            self.close()
        if self._connection is not None and self._response is not None:
            try:
                self._response.read_rest(REST_WITHIN)
                if self._response.closes or _readable(self._connection.sock):
                    self.close()
            except OSError:
                self.close()
        if self._connection is not None:
            return True
        self._connection, self._url = self._client.open(), self._client.url
        return False

    def _exchange(self, target: str, body: bytes) -> Any:
        if self._connection is None:
            self._connection, self._url = self._client.open(), self._client.url
        sock = self._connection.sock
        sock.settimeout(self._client.timeout)
        self._response = response = _Response(sock)
        with suppress(BrokenPipeError, ConnectionResetError):
            sock.sendall(self._head(target, len(body)) + body)
        response.read_head()  # also then: a server that refuses a large body sends the reason, then hangs up
        if response.status >= 400:
            raise problem(response.status, response.read_rest(self._client.timeout), self._client.url)
        line = response.read_line()
        value = _value(line)
        self._promised = isinstance(value, dict) and bool(value.get("held"))
        return value

    def _head(self, target: str, length: int) -> bytes:
        lines = [f"POST {target} HTTP/1.1", f"Host: {self._url.partition('://')[2].split('/')[0].rpartition('@')[2]}"]
        lines += [f"{name}: {value}" for name, value in self._client.headers().items()]
        lines += ["Content-Type: application/octet-stream", f"Content-Length: {length}", "", ""]
        return "\r\n".join(lines).encode("latin-1")


class _Response:
    """One response of HTTP/1.1, read from its socket as far as it has come."""

    def __init__(self, sock: Any) -> None:
        self._socket = sock
        self._raw = b""  # received and not yet decoded
        self._content = b""  # decoded and not yet read
        self._left: int | None = None  # bytes to come: of the body, or of the chunk; None while that is not known
        self._chunked = False
        self.status = 0
        self.closes = False
        self.ended = False

    @property
    def exhausted(self) -> bool:
        return self.ended and not self._content

    @property
    def pending(self) -> bool:
        """Whether something is received that the socket, seen from outside, does not show."""
        return bool(getattr(self._socket, "pending", lambda: 0)())

    def read_head(self) -> None:
        while self.status < 200:
            while b"\r\n\r\n" not in self._raw:
                if len(self._raw) > LONGEST_HEAD:
                    raise ConnectionError("the response has no end of its head")
                if not self._more():
                    raise ConnectionError("the server hung up")
            head, _, self._raw = self._raw.partition(b"\r\n\r\n")
            self._parse(head.decode("latin-1"))
        if self.status in (204, 304):
            self._left = 0
        self._decode()

    def _parse(self, head: str) -> None:
        first, *lines = head.split("\r\n")
        version, _, rest = first.partition(" ")
        if not version.startswith("HTTP/1.") or not rest[:3].isdigit():
            raise ConnectionError(f"this is no response of HTTP: {first[:80]!r}")
        self.status = int(rest[:3])
        headers = {}
        for line in lines:
            name, _, value = line.partition(":")
            headers[name.strip().lower()] = value.strip()
        self._chunked = headers.get("transfer-encoding", "").lower() == "chunked"
        length = headers.get("content-length", "")
        self._left = int(length) if length.isdigit() and not self._chunked else None
        self.closes = headers.get("connection", "").lower() == "close" or version == "HTTP/1.0"

    def line(self) -> bytes | None:
        """The next line if all of it has come; b"" at the end, None when it is still to come."""
        if b"\n" in self._content:
            line, _, self._content = self._content.partition(b"\n")
            return line
        if not self.ended:
            return None
        line, self._content = self._content, b""
        return line

    def read_line(self) -> bytes:
        while True:
            line = self.line()
            if line is not None:
                return line
            self.receive()

    def read_rest(self, seconds: float) -> bytes:
        self._socket.settimeout(seconds)
        while not self.ended:
            self.receive()
        content, self._content = self._content, b""
        return content

    def receive(self) -> None:
        """Take in what has come; waits for it where nothing has."""
        if not self._more():
            if self._chunked or self._left is not None:
                raise ConnectionError("the response broke off")
            self.ended = True
        self._decode()

    def _more(self) -> bool:
        received = self._socket.recv(RECEIVED_AT_ONCE)
        self._raw += received
        return bool(received)

    def _decode(self) -> None:
        while self._raw or self._left == 0:
            if self._chunked and self._left is None and not self._begin_chunk():
                return
            if self._left is None:  # up to the end of the connection
                self._content, self._raw = self._content + self._raw, b""
                return
            piece, self._raw = self._raw[: self._left], self._raw[self._left :]
            self._content += piece
            self._left -= len(piece)
            if self._left:
                return
            if not self._chunked:
                self.ended = True
                return
            if not self._raw.startswith(b"\r\n"):
                return  # the line end after a chunk is still to come
            self._raw, self._left = self._raw[2:], None

    def _begin_chunk(self) -> bool:
        size, found, rest = self._raw.partition(b"\r\n")
        if not found:
            return False
        try:
            length = int(size.partition(b";")[0], 16)
        except ValueError:
            raise ConnectionError(f"this is no chunk of a response: {size[:80]!r}") from None
        if length == 0:  # no trailers are sent to us
            if not rest.startswith(b"\r\n"):
                return False
            self._raw, self.ended = rest[2:], True
            return False
        self._raw, self._left = rest, length
        return True


def _readable(sock: Any) -> bool:
    """Whether something has come: between two requests, that can only be the end of the connection."""
    poll = select.poll()
    poll.register(sock, select.POLLIN)
    return bool(poll.poll(0))


def _nothing_came(sock: Any) -> tuple[type[OSError], ...]:
    """What is raised when nothing can be read now."""
    if not hasattr(sock, "pending"):
        return (BlockingIOError,)
    import ssl

    return (BlockingIOError, ssl.SSLWantReadError)


def _value(line: bytes) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        raise ConnectionError(f"this is no line of JSON: {line[:200]!r}") from None
