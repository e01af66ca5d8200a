"""HTTP messages as a gateway reads them: heads, bodies with a length, bodies in chunks."""

from __future__ import annotations

import asyncio

import pytest

from runyard.serving.gateway.messages import BadMessage, Head, body_of, read_head


def read(text: bytes) -> tuple[Head | None, bytes]:
    async def both() -> tuple[Head | None, bytes]:
        reader = asyncio.StreamReader()
        reader.feed_data(text)
        reader.feed_eof()
        head = await read_head(reader)
        return head, b"" if head is None else b"".join([piece async for piece in body_of(reader, head)])

    return asyncio.run(both())


def test_bodies_end_where_they_say() -> None:
    head, body = read(b"POST /score?x=1 HTTP/1.1\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabcdef")
    assert head is not None
    assert (head.method, head.path, body, head.stays_open) == (b"POST", b"/score", b"abc", False)
    assert b"Connection" not in head.sent_on()
    chunked = b"3\r\nabc\r\n0\r\n\r\n"
    assert read(b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked + b"more")[1] == chunked
    assert read(b"")[0] is None


@pytest.mark.parametrize(
    "text",
    [b"hello\r\n\r\n", b"GET / HTTP/1.1\r\nno colon\r\n\r\n", b"GET / HTTP/1.1\r\nContent-Length: x\r\n\r\n"],
)
def test_what_is_none_is_refused(text: bytes) -> None:
    with pytest.raises(BadMessage):
        read(text)
