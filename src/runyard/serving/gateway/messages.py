"""Reading HTTP/1.1 messages from a stream, as far as one must to pass them on: the head, and where the body ends."""

from __future__ import annotations

import asyncio
import re
from typing import AsyncIterator

from runyard.serving.http.head import Head as Asked
from runyard.serving.http.head import parse
from runyard.system.records import record

LONGEST_HEAD = 64 * 1024
PIECE = 64 * 1024
_REQUEST = re.compile(rb"[^ ]+ [^ ]+ HTTP/1\.[01]$").match
_RESPONSE = re.compile(rb"HTTP/1\.[01] [0-9]{3}( |$)").match
_SIZE = re.compile(rb"[0-9a-fA-F]{1,12}$").match
_HOP = (b"connection", b"keep-alive", b"proxy-connection", b"te", b"upgrade")


class BadMessage(ValueError):
    """What came is no HTTP message; the text is for its sender."""


@record(frozen=True)
class Head:
    """The first line of a message and its headers, as they came."""

    first: bytes
    headers: list[tuple[bytes, bytes]]

    def get(self, name: bytes) -> bytes | None:
        """The value of a header; its name in small letters."""
        return next((value for key, value in self.headers if key.lower() == name), None)

    @property
    def method(self) -> bytes:
        return self.first.split(b" ", 1)[0]

    @property
    def path(self) -> bytes:
        return self.first.split(b" ")[1].partition(b"?")[0]

    @property
    def status(self) -> int:
        """Of a response."""
        return int(self.first.split(b" ", 2)[1])

    @property
    def chunked(self) -> bool:
        return b"chunked" in (self.get(b"transfer-encoding") or b"").lower()

    @property
    def length(self) -> int | None:
        value = self.get(b"content-length")
        if value is None:
            return None
        if not value.isdigit():
            raise BadMessage("Content-Length is no number.")
        return int(value)

    @property
    def stays_open(self) -> bool:
        """Whether its sender means to use the connection again."""
        wish = (self.get(b"connection") or b"").lower()
        if self.first.endswith(b"HTTP/1.0") or self.first.startswith(b"HTTP/1.0"):
            return b"keep-alive" in wish
        return b"close" not in wish

    def sent_on(self, *more: tuple[bytes, bytes]) -> bytes:
        """The head for the next connection: without what was meant for this one."""
        lines = [self.first]
        lines += [key + b": " + value for key, value in self.headers if key.lower() not in _HOP]
        lines += [key + b": " + value for key, value in more]
        return b"\r\n".join(lines) + b"\r\n\r\n"


async def read_request(reader: asyncio.StreamReader) -> tuple[Head, Asked] | None:
    """The head of the next request, as it came and as the workers' own parser understands it; None when the connection
    ends before one. What that parser refuses could mean one thing here and another there. BadRequest."""
    text = await _text(reader)
    return None if text is None else (_head(text), parse(text))


async def read_head(reader: asyncio.StreamReader) -> Head | None:
    """The next head; None when the connection ends before one."""
    text = await _text(reader)
    return None if text is None else _head(text)


async def _text(reader: asyncio.StreamReader) -> bytes | None:
    try:
        return (await reader.readuntil(b"\r\n\r\n"))[:-4].lstrip(b"\r\n")
    except asyncio.IncompleteReadError:
        return None
    except asyncio.LimitOverrunError:
        raise BadMessage(f"The head of the request has more than {LONGEST_HEAD} bytes.") from None


def _head(text: bytes) -> Head:
    first, *lines = text.split(b"\r\n")
    headers = []
    for line in lines:
        name, colon, value = line.partition(b":")
        if not colon or not name or name != name.strip():
            raise BadMessage("A header has no name.")
        headers.append((name, value.strip()))
    if not _REQUEST(first) and not _RESPONSE(first):
        raise BadMessage("The first line is not that of an HTTP/1.1 message.")
    return Head(first, headers)


async def body_of(reader: asyncio.StreamReader, head: Head, until_end: bool = False) -> AsyncIterator[bytes]:
    """The bytes of a body as they are on the wire, piece by piece. `until_end`: without a length, to the end."""
    if head.chunked:
        async for piece in _chunks(reader):
            yield piece
        return
    length = head.length
    if length is None and until_end:
        while True:
            piece = await reader.read(PIECE)
            if not piece:
                return
            yield piece
    left = length or 0
    while left:
        piece = await reader.read(min(left, PIECE))
        if not piece:
            raise ConnectionError("the connection ended within a body")
        left -= len(piece)
        yield piece


async def _chunks(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    while True:
        line = await _line(reader)
        found = line.split(b";")[0].strip()
        if not _SIZE(found):
            raise BadMessage("A chunk of the body has no size.")
        yield line
        left = int(found, 16)
        if left == 0:
            break
        left += 2  # the end of its line
        while left:  # not at once: whoever reads decides how much is too much before it is in memory
            piece = await reader.read(min(left, PIECE))
            if not piece:
                raise ConnectionError("the connection ended within a body")
            left -= len(piece)
            yield piece
    while True:  # trailers
        line = await _line(reader)
        yield line
        if line == b"\r\n":
            return


async def _line(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.readuntil(b"\r\n")
    except asyncio.LimitOverrunError:
        raise BadMessage(f"A line of the body has more than {LONGEST_HEAD} bytes.") from None
