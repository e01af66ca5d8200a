"""If these fail, a client gets no answer, another's answer, or holds up the worker with half a request."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator

import pytest
from tests.support.serving import ask, raw, within_script

from runyard.serving.http import connection as connections

HEAD = b"POST /score HTTP/1.1\r\nHost: localhost\r\n"


def echo(data: str) -> int:
    return len(data)


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with within_script(echo, max_request_bytes=2_000_000) as found:
        yield found


def body_of(answer: bytes) -> bytes:
    return answer.partition(b"\r\n\r\n")[2]


@pytest.mark.parametrize("pieces", [1, 3, 80])
def test_a_request_may_come_in_pieces(port: int, pieces: int) -> None:
    request = HEAD + b"Connection: close\r\nContent-Length: 11\r\n\r\nhello world"
    assert body_of(raw(port, request, pieces)) == b"11"
    chunked = HEAD + b"Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n"
    assert body_of(raw(port, chunked, pieces)) == b"11"


def test_requests_behind_one_another_are_answered_in_order(port: int) -> None:
    many = b"".join(HEAD + b"Content-Length: %d\r\n\r\n%s" % (number, b"x" * number) for number in range(1, 9))
    last = HEAD + b"Connection: close\r\nContent-Length: 9\r\n\r\n123456789"
    for pieces in (1, 50):
        answers = raw(port, many + b"\r\n" + last, pieces).split(b"HTTP/1.1 200 OK")[1:]
        assert [int(body_of(answer)) for answer in answers] == list(range(1, 10))


def test_a_client_that_waits_to_be_asked_for_its_body_is_asked(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=30) as client:
        client.sendall(HEAD + b"Expect: 100-continue\r\nConnection: close\r\nContent-Length: 2\r\n\r\n")
        assert client.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
        client.sendall(b"ab")
        assert client.recv(10_000).startswith(b"HTTP/1.1 200")


def test_too_large_a_body_is_refused_before_and_while_it_comes(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=30) as client:
        client.sendall(HEAD + b"Expect: 100-continue\r\nContent-Length: 3000000\r\n\r\n")
        assert client.recv(10_000).startswith(b"HTTP/1.1 413")
    sent_whole = ask(port, "/score", b"x" * 3_000_000)
    assert sent_whole.status == 413
    assert "3000000 bytes" in sent_whole.json()["message"]
    assert ask(port, "/score", b"x" * 1_999_999).json() == 1_999_999


@pytest.mark.parametrize(
    "nonsense", [b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", b"GARBAGE\r\n\r\n", b"x" * 70_000]
)
def test_nonsense_is_answered_and_others_go_on(port: int, nonsense: bytes) -> None:
    assert raw(port, nonsense).startswith((b"HTTP/1.1 400", b"HTTP/1.1 431"))
    assert ask(port, "/score", b"abc").json() == 3


def test_half_a_request_does_not_stay_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "HEAD_SECONDS", 0.1)
    monkeypatch.setattr(connections, "BODY_SECONDS", 0.1)
    with within_script(echo) as port:
        assert raw(port, b"POST /score HT").startswith(b"HTTP/1.1 408")
        assert raw(port, HEAD + b"Content-Length: 10\r\n\r\nabc").startswith(b"HTTP/1.1 408")


def test_an_answer_that_the_client_takes_slowly_arrives_whole() -> None:
    with within_script(lambda data: "y" * int(data)) as port, socket.create_connection(("127.0.0.1", port)) as client:
        size = 20_000_000
        text = str(size).encode()
        client.sendall(HEAD + b"Connection: close\r\nContent-Length: %d\r\n\r\n%s" % (len(text), text))
        found = bytearray()
        while True:
            piece = client.recv(1 << 20)
            if not piece:
                break
            found += piece
        assert len(json.loads(body_of(bytes(found)))) == size


def test_a_head_request_gets_no_body(port: int) -> None:
    found = raw(port, b"HEAD / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    assert b"content-length: 7" in found
    assert body_of(found) == b""
