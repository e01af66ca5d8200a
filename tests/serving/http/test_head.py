"""If these fail, a head is understood in another way than a proxy in front of the service understands it."""

from __future__ import annotations

import pytest

from runyard.serving.http.head import CHUNKED, BadRequest, parse

HOST = "Host: me\r\n"


def test_what_is_in_a_head() -> None:
    head = parse(b"POST /a%20b?x=1&y=%20 HTTP/1.1\r\nHost: me\r\nX-Twice: 1\r\nx-twice:2\r\nContent-Length: 12")
    assert (head.method, head.path, head.query, head.length) == ("POST", "/a b", "x=1&y=%20", 12)
    assert head.headers["x-twice"] == "1, 2"
    assert head.keep_alive
    assert parse(b"POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\nexpect: 100-continue").length == CHUNKED
    assert parse(b"GET http://me/score HTTP/1.1\r\nhost: a").path == "/score"
    assert not parse(b"GET / HTTP/1.0").keep_alive
    assert not parse(b"GET / HTTP/1.1\r\nhost: a\r\nconnection: close").keep_alive


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("GET / HTTP/1.1", 400),  # no host
        ("GET /\r\nHost: me", 400),
        ("GET / HTTP/2.0\r\nHost: me", 505),
        ("G ET / HTTP/1.1\r\nHost: me", 400),
        ("GET / HTTP/1.1\r\nHost: me\r\nHost: other", 400),
        ("GET / HTTP/1.1\r\nHost: me\r\n folded", 400),
        ("GET / HTTP/1.1\r\nHost: me\r\nname : value", 400),
        ("GET / HTTP/1.1\r\nHost: me\r\nno colon", 400),
        ("GET / HTTP/1.1\r\nHost: me\nX: y", 400),
        ("GET / HTTP/1.1\r\nHost: me\r\nX: a\x00b", 400),
        ("POST / HTTP/1.1\r\nHost: me\r\nContent-Length: 1\r\nContent-Length: 2", 400),
        ("POST / HTTP/1.1\r\nHost: me\r\nContent-Length: 1\r\nTransfer-Encoding: chunked", 400),
        ("POST / HTTP/1.1\r\nHost: me\r\nContent-Length: +1", 400),
        ("POST / HTTP/1.1\r\nHost: me\r\nContent-Length: 0x10", 400),
        ("POST / HTTP/1.1\r\nHost: me\r\nTransfer-Encoding: gzip, chunked", 501),
        ("GET me HTTP/1.1\r\nHost: me", 400),
        ("GET / HTTP/1.1\r\nHost: me\r\n" + "\r\n".join(f"h{number}: 1" for number in range(200)), 431),
    ],
)
def test_what_could_be_understood_in_two_ways_is_refused(text: str, status: int) -> None:
    with pytest.raises(BadRequest) as wrong:
        parse(text.encode("latin-1"))
    assert wrong.value.status == status
    assert wrong.value.message
