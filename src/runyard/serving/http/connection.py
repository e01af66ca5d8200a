"""One connection of a client: requests are read from it one after the other, and answered in that order.

Only the thread that leads the loop touches it. While a request is being worked on the connection is busy: what the
client sends meanwhile stays in the kernel.
"""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

from runyard.serving.http.chunks import Chunks
from runyard.serving.http.head import CHUNKED, BadRequest, Head, parse
from runyard.serving.http.message import Body, Request, Response, message

if TYPE_CHECKING:
    from runyard.serving.http.loop import Loop

MOST_HEAD = 32 * 1024
HEAD_SECONDS = 20.0  # for a head, from its first byte
BODY_SECONDS = 60.0  # for the next piece of a body, and for a client to take the next piece of its answer
LINGER_SECONDS = 30.0  # for what a client still sends after an answer that it did not wait for
PIECE = 64 * 1024
LARGE_PIECE = 1024 * 1024

_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
_heads: dict[bytes, Head] = {}  # heads that were in order: a client sends the same ones again and again
_MOST_HEADS = 256


class Connection:
    __slots__ = (
        *("_advancing", "_body", "_buffer", "_chunks", "_closing", "_head", "_lingers", "_out", "_paused", "_socket"),
        *("answered", "busy", "deadline", "descriptor", "gone", "is_local", "loop"),
    )

    def __init__(self, loop: Loop, taken: socket.socket, is_local: bool = True) -> None:
        self.loop, self._socket, self.descriptor, self.is_local = loop, taken, taken.fileno(), is_local
        self.busy = self.gone = False
        self.answered = 0  # requests
        self.deadline = loop.now + loop.idle_seconds
        self._buffer = b""
        self._head: Head | None = None
        self._body: bytearray | None = None
        self._chunks: Chunks | None = None
        self._out: memoryview | None = None
        self._advancing = self._closing = self._lingers = self._paused = False

    @property
    def idle(self) -> bool:
        """Whether nothing of a request has come yet, and nothing of an answer waits to be sent."""
        return not (self.busy or self._buffer or self._head or self._out or self._lingers)

    def readable(self) -> None:
        if self.busy or self._out is not None:
            self._pause()
            return
        large = self._body is not None or self._chunks is not None
        try:
            data = self._socket.recv(LARGE_PIECE if large else PIECE)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            data = b""
        if not data:
            self.close()
            return
        if self._lingers:
            return
        try:
            self._received(data)
        except BadRequest as wrong:
            self._refuse(wrong)

    def hung_up(self) -> None:
        """The client is gone. What it asked for may still be under way."""
        if self.busy:
            self.gone = True
            self.loop.forget(self.descriptor)
        else:
            self.close()

    def _pause(self) -> None:
        if not self._paused:
            self._paused = True
            self.loop.watch(self.descriptor, read=False, write=self._out is not None)

    def _received(self, data: bytes) -> None:
        if self._chunks is not None:
            self.deadline = self.loop.now + BODY_SECONDS
            rest = self._chunks.feed(data)
            if rest is not None:
                body, self._chunks, self._buffer = self._chunks.body, None, rest
                self._complete(body)
        elif self._body is not None and self._head is not None:
            self.deadline = self.loop.now + BODY_SECONDS
            needed = self._head.length - len(self._body)
            self._body += data[:needed] if len(data) > needed else data
            if len(data) >= needed:
                body, self._body, self._buffer = self._body, None, data[needed:]
                self._complete(body)
        else:
            if not self._buffer:
                self.deadline = self.loop.now + HEAD_SECONDS
            self._buffer = self._buffer + data if self._buffer else data
        self._advance()

    def _advance(self) -> None:
        """Take up requests that are there in full, one after the other."""
        if self._advancing:
            return
        self._advancing = True
        try:
            while self._buffer and not self.busy and self._out is None and not self._closing:
                if not self._begin():
                    return
        finally:
            self._advancing = False

    def _begin(self) -> bool:
        """Read a head, and its body as far as it is there; whether the request is whole."""
        buffer = self._buffer
        end = buffer.find(b"\r\n\r\n")
        if end < 0:
            if buffer.startswith((b"\r\n", b"\n")):  # some send an empty line behind a body
                self._buffer = buffer.lstrip(b"\r\n")
                return bool(self._buffer)
            if len(buffer) > MOST_HEAD:
                raise BadRequest(431, f"The head of the request is longer than {MOST_HEAD} bytes.")
            return False
        raw = buffer[:end]
        head = _heads.get(raw)
        if head is None:
            if end > MOST_HEAD:
                raise BadRequest(431, f"The head of the request is longer than {MOST_HEAD} bytes.")
            head = parse(raw.lstrip(b"\r\n"))
            if len(_heads) >= _MOST_HEADS:
                _heads.clear()
            _heads[raw] = head
        start = end + 4
        length = head.length
        if length > self.loop.most_body:
            raise BadRequest(
                413,
                f"The body has {length} bytes; {self.loop.most_body} is the most that is taken (max_request_bytes).",
            )
        if length != CHUNKED and len(buffer) - start >= length:
            self._buffer = buffer[start + length :]
            self._head = head
            self._complete(buffer[start : start + length])
            return True
        self._head, self._buffer = head, b""
        self.deadline = self.loop.now + BODY_SECONDS
        if head.expects:
            self._send(_CONTINUE)
        if length == CHUNKED:
            self._chunks = Chunks(self.loop.most_body)
            if start < len(buffer):
                self._received(buffer[start:])
        else:
            self._body = bytearray(buffer[start:])
        return False

    def _complete(self, body: Body) -> None:
        head = self._head
        assert head is not None
        self.busy = True
        self.deadline = float("inf")
        self.loop.arrived(self, Request(head, body))

    def respond(self, response: Response) -> None:
        """Answer the request that the connection is busy with."""
        head, self._head = self._head, None
        self.busy = False
        self.answered += 1
        if self.gone:
            self.close()
            return
        keep_alive = head is not None and head.keep_alive and not self.loop.draining
        self._closing = not keep_alive
        self.deadline = self.loop.now + self.loop.idle_seconds
        start, body = response.encoded(keep_alive, head is not None and head.method == "HEAD")
        if len(body) < PIECE:
            self._send(start + body)
        else:
            self._send(start)
            self._send(body)
        self._written()

    def _refuse(self, wrong: BadRequest) -> None:
        """Answer something that is no request, and stop listening: where the next one begins is not known."""
        start, body = message(wrong.status, wrong.message).encoded(keep_alive=False)
        self.loop.refused(wrong)
        self._closing = self._lingers = True
        self._head = self._body = self._chunks = None
        self._buffer = b""
        self._send(start + body)
        self._written()

    def _send(self, data: Body) -> None:
        if self._out is not None:
            self._out = memoryview(bytes(self._out) + data)
            return
        try:
            sent = self._socket.send(data)
        except (BlockingIOError, InterruptedError):
            sent = 0
        except OSError:
            self.close()
            return
        if sent < len(data):
            self._out = memoryview(data)[sent:]
            self.deadline = self.loop.now + BODY_SECONDS
            self._paused = True
            self.loop.watch(self.descriptor, read=False, write=True)

    def writable(self) -> None:
        out = self._out
        if out is None:
            return
        try:
            sent = self._socket.send(out)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            self.close()
            return
        self.deadline = self.loop.now + BODY_SECONDS
        self._out = out[sent:] if sent < len(out) else None
        if self._out is None:
            self._written()

    def _written(self) -> None:
        """What follows once an answer is in the kernel's hands."""
        if self.descriptor < 0 or self._out is not None:
            return
        if self._closing:
            if self._lingers or self._paused:  # closing now would take the answer away from a client that still sends
                self._linger()
            else:
                self.close()
            return
        if self.busy:
            return
        if self._paused:
            self._paused = False
            self.loop.watch(self.descriptor, read=True, write=False)
        if self._buffer and not self._advancing:
            try:
                self._advance()
            except BadRequest as wrong:
                self._refuse(wrong)

    def _linger(self) -> None:
        self._lingers = True
        self._paused = False
        self.deadline = self.loop.now + LINGER_SECONDS
        try:
            self._socket.shutdown(socket.SHUT_WR)
        except OSError:
            self.close()
            return
        self.loop.watch(self.descriptor, read=True, write=False)

    def expired(self) -> None:
        """Its deadline has passed."""
        if self.idle or self._lingers or self._out is not None:
            self.close()
        else:
            self._refuse(BadRequest(408, "The request did not come to its end in time."))

    def close(self) -> None:
        if self.descriptor >= 0:
            self.loop.closed(self)
            self._socket.close()
            self.descriptor = -1
            self._out = None
            self._buffer = b""
