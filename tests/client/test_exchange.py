"""HTTP over a socket: a response is given whole or not at all, and what goes out cannot be bent by its content."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator

import pytest

from runyard.client.exchange import BadResponse, Connection, Response

Answered = Callable[..., Response]


@pytest.fixture
def answered() -> Iterator[Answered]:
    """Makes responses of real connections, whose other end sends some bytes and hangs up."""
    made: list[Connection] = []

    def answer(text: bytes, method: str = "GET") -> Response:
        ours, theirs = socket.socketpair()
        connection = Connection("host")
        made.append(connection)
        connection.use(ours)
        connection.request(method, "/", None, {})
        with theirs:
            theirs.recv(1 << 16)
            theirs.sendall(text)
        return connection.getresponse()

    yield answer
    for connection in made:
        connection.close()


def sent(body: bytes | Iterator[bytes] | None, method: str = "POST", **headers: str) -> bytes:
    """What goes out for a request."""
    ours, theirs = socket.socketpair()
    received: list[bytes] = []
    reader = threading.Thread(target=lambda: received.extend(iter(lambda: theirs.recv(1 << 16), b"")))
    reader.start()
    connection = Connection("::1", 7420)
    connection.use(ours)
    connection.request(method, "/a?b=1", body, headers)
    connection.close()
    reader.join()
    theirs.close()
    return b"".join(received)


def test_a_body_has_its_length_and_the_host_its_port() -> None:
    head, _, body = sent(b"abc", Range="bytes=1-").partition(b"\r\n\r\n")
    assert head.split(b"\r\n") == [
        b"POST /a?b=1 HTTP/1.1",
        b"Host: [::1]:7420",
        b"Accept-Encoding: identity",
        b"Range: bytes=1-",
        b"Content-Length: 3",
    ]
    assert body == b"abc"
    assert b"Content-Length: 0\r\n" in sent(None)
    assert b"Content-Length" not in sent(None, "GET")


def test_a_large_body_and_one_in_pieces_arrive_whole() -> None:
    large = b"x" * (1 << 18)
    assert sent(large).partition(b"\r\n\r\n")[2] == large
    pieces = sent(iter([b"ab", b"", b"c"]), **{"Content-Length": "3"})
    assert pieces.endswith(b"Content-Length: 3\r\n\r\nabc")


@pytest.mark.parametrize("target", ["/a b", "/a\r\nX: 1", "/é"])
def test_a_target_that_would_become_another_request_is_refused(target: str) -> None:
    connection = Connection("host")
    ours, theirs = socket.socketpair()
    connection.use(ours)
    with theirs, pytest.raises(ValueError, match="cannot be sent"):
        connection.request("GET", target, None, {})
    with pytest.raises(ValueError, match="cannot be sent"):
        connection.request("GET", "/", None, {"X": "1\r\nY: 2"})
    connection.close()


def test_a_body_with_a_length_is_read_in_parts_and_to_its_end(answered: Answered) -> None:
    response = answered(b"HTTP/1.1 200 OK\r\ncontent-LENGTH: 5\r\nX-Twice: 1\r\nX-Twice: 2\r\n\r\nabcdeREST")
    assert (response.status, response.headers.get("x-twice"), response.will_close) == (200, "1", False)
    assert (response.read(2), response.read(), response.read()) == (b"ab", b"cde", b"")


def test_lines_of_a_body_in_chunks(answered: Answered) -> None:
    chunks = b"3\r\nab\n\r\n4;x=y\r\ncd\ne\r\n0\r\nTrailer: 1\r\n\r\n"
    response = answered(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks)
    assert [response.readline() for _ in range(4)] == [b"ab\n", b"cd\n", b"e", b""]
    assert not response.will_close


def test_what_announces_a_response_is_skipped(answered: Answered) -> None:
    response = answered(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\nContent-Length: 9\r\n\r\n")
    assert (response.status, response.read()) == (204, b"")
    assert answered(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", "HEAD").read() == b""


@pytest.mark.parametrize(
    ("head", "closes"),
    [
        (b"HTTP/1.1 200 OK\r\n", True),  # no length: it ends with the connection
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: Close\r\n", True),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n", True),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\nConnection: keep-alive\r\n", False),
    ],
)
def test_a_connection_that_ends_with_its_response_is_not_used_again(
    answered: Answered, head: bytes, closes: bool
) -> None:
    response = answered(head + b"\r\nab")
    assert (response.will_close, response.read()) == (closes, b"ab")


@pytest.mark.parametrize(
    "text",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nno\r\nabc",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Le",
        b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 300 + b"\r\n",
        b"HTTP/1.1 200 OK\r\nA: " + b"b" * (1 << 17),
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"",
    ],
)
def test_what_broke_off_or_is_no_response_is_never_taken_for_a_whole_one(answered: Answered, text: bytes) -> None:
    with pytest.raises(BadResponse):
        answered(text).read()


def test_a_connection_serves_one_request_after_the_other() -> None:
    ours, theirs = socket.socketpair()
    connection = Connection("host")
    connection.use(ours)
    with theirs:
        for text in (b"one", b"two"):
            connection.request("GET", "/", None, {})
            theirs.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n" + text)
            assert connection.getresponse().read() == text
    connection.close()
    assert (connection.sock, ours.fileno()) == (None, -1)
