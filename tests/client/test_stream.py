"""Answers in pieces: what breaks off before its end is said, never taken for the whole."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator

import pytest

from runyard.client.exchange import Connection
from runyard.client.problems import Unreachable
from runyard.client.stream import CHUNK, Stream


@pytest.fixture
def opened() -> Iterator[Callable[[bytes], Stream]]:
    """Makes streams of real connections, whose other end sends some bytes and hangs up."""
    made: list[tuple[socket.socket, Stream]] = []

    def open_stream(text: bytes) -> Stream:
        ours, theirs = socket.socketpair()
        threading.Thread(target=send, args=(theirs, text), daemon=True).start()
        connection = Connection("host")
        connection.use(ours)
        connection.request("GET", "/", None, {})
        stream = Stream(
            connection, connection.getresponse(), lambda error: Unreachable("http://host", error, True, "Look.")
        )
        made.append((ours, stream))
        return stream

    yield open_stream
    for ours, stream in made:
        stream.close()
        assert ours.fileno() == -1, "closing a stream closes its connection"


def send(theirs: socket.socket, text: bytes) -> None:
    with theirs:
        while b"\r\n\r\n" not in theirs.recv(1 << 16, socket.MSG_PEEK):
            pass
        theirs.recv(1 << 16)
        theirs.sendall(text)


def answer(content: bytes, length: int | None = None, more: bytes = b"") -> bytes:
    size = len(content) if length is None else length
    return b"HTTP/1.1 200 OK\r\n%sContent-Length: %d\r\n\r\n%s" % (more, size, content)


def test_what_the_head_says(opened: Callable[[bytes], Stream]) -> None:
    stream = opened(answer(b"abc", more=b"X-Runyard-Hash: 12\r\n"))
    assert (stream.status, stream.length, stream.file_hash) == (200, 3, "12")
    assert stream.headers["Content-Length"] == "3"


def test_pieces_come_to_the_end_and_then_nothing(opened: Callable[[bytes], Stream]) -> None:
    content = b"x" * (CHUNK + 1)
    assert b"".join(opened(answer(content))) == content
    lines = opened(answer(b"one\ntwo"))
    assert [lines.readline(), lines.read(1), lines.read(), lines.read(5)] == [b"one\n", b"t", b"wo", b""]
    assert opened(answer(b"")).read() == b""


@pytest.mark.parametrize("read", [lambda stream: list(stream), lambda stream: [stream.readline() for _ in range(3)]])
def test_what_breaks_off_is_unreachable(
    opened: Callable[[bytes], Stream], read: Callable[[Stream], list[bytes]]
) -> None:
    with pytest.raises(Unreachable, match="3 bytes before its end") as caught:
        read(opened(answer(b"one\n", length=7)))
    assert caught.value.sent


def test_a_broken_chunk_is_unreachable(opened: Callable[[bytes], Stream]) -> None:
    stream = opened(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab")
    assert stream.length is None
    with pytest.raises(Unreachable):
        list(stream)
