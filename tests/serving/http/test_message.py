"""If these fail, a client reads another answer than was meant, or a script can write one into another's."""

from __future__ import annotations

from runyard.serving.http.message import Response, is_header, json_response, message


def test_the_bytes_of_an_answer() -> None:
    head, body = json_response({"a": 1}).encoded(keep_alive=True)
    assert head.startswith(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 8\r\ndate: ")
    assert head.endswith(b" GMT\r\n\r\n")
    assert body == b'{"a": 1}'
    closed, nothing = message(404, "no").encoded(keep_alive=False, bodiless=True)
    assert b"content-length: 17\r\n" in closed
    assert closed.endswith(b"connection: close\r\n\r\n")
    assert nothing == b""
    assert Response(b"x", 799).encoded(True)[0].startswith(b"HTTP/1.1 799 ")
    assert Response(b"", 204, "").encoded(True)[0].count(b"content-length") == 0


def test_a_header_with_a_line_break_is_none() -> None:
    assert is_header("x-mine", "value")
    assert not is_header("x-mine", "value\r\nx-other: 1")
    assert not is_header("x\n", "value")
    assert not is_header("x:y", "value")
    assert not is_header("", "value")
