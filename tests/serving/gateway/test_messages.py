"""Messages as the gateway reads them: what it passes on is whole, and what is no message is refused before it is."""

from __future__ import annotations

import asyncio

import pytest

from runyard.serving.gateway.messages import LONGEST_HEAD, PIECE, BadMessage, Head, body_of, read_head

CHUNKED = Head(b"POST /score HTTP/1.1", [(b"Transfer-Encoding", b"Chunked")])


def reader_of(content: bytes, ended: bool = True) -> asyncio.StreamReader:
    reader = asyncio.StreamReader(limit=LONGEST_HEAD)
    reader.feed_data(content)
    if ended:
        reader.feed_eof()
    return reader


def head_in(content: bytes) -> Head | None:
    async def read() -> Head | None:
        return await read_head(reader_of(content))

    return asyncio.run(read())


def body_in(content: bytes, head: Head, until_end: bool = False) -> bytes:
    async def read() -> bytes:
        return b"".join([piece async for piece in body_of(reader_of(content), head, until_end)])

    return asyncio.run(read())


def test_a_head_is_passed_on_without_what_was_meant_for_one_connection() -> None:
    head = head_in(
        b"\r\nPOST /score?a=1 HTTP/1.1\r\nHost: me\r\nConnection: close\r\nKeep-Alive: 5\r\ncontent-length: 3\r\n"
        b"X-Mine:  a: b \r\nX-Mine: c\r\n\r\n"
    )
    assert head is not None
    assert (head.method, head.path, head.length, head.chunked, head.stays_open) == (b"POST", b"/score", 3, False, False)
    assert head.sent_on((b"Connection", b"keep-alive")) == (
        b"POST /score?a=1 HTTP/1.1\r\nHost: me\r\ncontent-length: 3\r\nX-Mine: a: b\r\nX-Mine: c\r\n"
        b"Connection: keep-alive\r\n\r\n"
    )


@pytest.mark.parametrize(
    ("first", "wish", "stays"),
    [
        (b"GET / HTTP/1.1", b"", True),
        (b"GET / HTTP/1.0", b"", False),
        (b"GET / HTTP/1.0", b"Keep-Alive", True),
        (b"HTTP/1.0 200 OK", b"", False),
        (b"HTTP/1.1 200 OK", b"Close", False),
    ],
)
def test_whether_a_connection_is_used_again(first: bytes, wish: bytes, stays: bool) -> None:
    assert Head(first, [(b"Connection", wish)] if wish else []).stays_open is stays


def test_an_answer_may_have_no_words_beside_its_status() -> None:
    answer = head_in(b"HTTP/1.1 204\r\n\r\n")
    assert answer is not None
    assert answer.status == 204
    assert head_in(b"") is None, "a connection that ends between requests"
    assert head_in(b"POST /sc") is None


@pytest.mark.parametrize(
    "content",
    [
        b"hello there\r\n\r\n",
        b"\r\n\r\n",
        b"HTTP/1.1\r\n\r\n",
        b"HTTP/1.1 many OK\r\n\r\n",
        b"GET  HTTP/1.1\r\n\r\n",
        b"GET / HTTP/2.0\r\n\r\n",
        b"GET / HTTP/1.1\r\nno colon\r\n\r\n",
        b"GET / HTTP/1.1\r\n: no name\r\n\r\n",
        b"GET / HTTP/1.1\r\nLength : 1\r\n\r\n",
        b"GET / HTTP/1.1\r\nA: b\r\n folded: c\r\n\r\n",
        b"GET / HTTP/1.1\r\nA: " + b"a" * 2 * LONGEST_HEAD + b"\r\n\r\n",
    ],
    ids=lambda content: repr(content[:24]),
)
def test_what_is_no_head_is_refused(content: bytes) -> None:
    with pytest.raises(BadMessage):
        head_in(content)


def test_bodies_come_as_they_were_sent() -> None:
    sent = b"3;a=b\r\nabc\r\n1f\r\n" + b"x" * 31 + b"\r\n0\r\nTrailer: t\r\n\r\n"
    assert body_in(sent + b"GET / HTTP/1.1\r\n", CHUNKED) == sent, "what follows is the next request"
    plain = Head(b"POST / HTTP/1.1", [(b"Content-Length", b"5")])
    assert body_in(b"abcdefgh", plain) == b"abcde"
    unmeasured = Head(b"HTTP/1.1 200 OK", [])
    assert body_in(b"to the end", unmeasured, until_end=True) == b"to the end"
    assert body_in(b"the next request", unmeasured) == b""


@pytest.mark.parametrize("size", [b"-5", b"+5", b"0x5", b"1_0", b"", b"five", b"f" * 40, b"1" * 2 * LONGEST_HEAD])
def test_a_chunk_of_which_servers_could_think_differently_is_refused(size: bytes) -> None:
    with pytest.raises(BadMessage):
        body_in(size + b"\r\n" + b"x" * 100 + b"\r\n0\r\n\r\n", CHUNKED)


@pytest.mark.parametrize(
    ("content", "head"),
    [
        (b"abc", Head(b"POST / HTTP/1.1", [(b"Content-Length", b"5")])),
        (b"5\r\nabc", CHUNKED),
        (b"5\r\nabcde\r\n", CHUNKED),
    ],
    ids=["length", "within a chunk", "between chunks"],
)
def test_half_a_body_is_not_taken_for_a_whole_one(content: bytes, head: Head) -> None:
    with pytest.raises((ConnectionError, EOFError)):
        body_in(content, head)


def test_a_length_that_is_no_number_is_refused() -> None:
    with pytest.raises(BadMessage, match="no number"):
        body_in(b"", Head(b"POST / HTTP/1.1", [(b"Content-Length", b"-1")]))


def test_a_chunk_that_says_to_be_huge_is_not_gathered() -> None:
    """Whoever reads must see the pieces: a limit that is looked at after the chunk is none."""

    async def first_pieces() -> list[bytes]:
        reader = reader_of(b"fffffffffff\r\n" + b"x" * (PIECE + 1), ended=False)
        pieces = body_of(reader, CHUNKED)
        return [await pieces.__anext__() for _ in range(3)]

    line, *content = asyncio.run(asyncio.wait_for(first_pieces(), 30))
    assert (line, b"".join(content)) == (b"fffffffffff\r\n", b"x" * (PIECE + 1))
