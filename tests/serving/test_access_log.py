"""If these fail, nobody can tell from the log which requests a service has answered, or how."""

from __future__ import annotations

import json

import pytest

from runyard.serving.access_log import AccessLog
from runyard.serving.http.head import parse
from runyard.serving.http.message import Request, Response


def test_a_line_is_json_whatever_the_request_holds(capsys: pytest.CaptureFixture[str]) -> None:
    log = AccessLog(True)
    head = parse(b'POST /a"b%0Ac HTTP/1.1\r\nhost: x\r\nx-ms-client-request-id: "mine"')
    request, response = Request(head, b"12345"), Response(b"abc", 201)
    request.request_id, response.seconds = "id", 0.25
    log.add(request, response, 0.5)
    assert log.waits
    log.write(0.0)
    assert capsys.readouterr().out == ""
    log.write(0.0, at_once=True)
    (line,) = capsys.readouterr().out.splitlines()
    told = json.loads(line)
    assert told.pop("time").endswith("Z")
    assert told == {
        "method": "POST",
        "path": '/a"b\nc',
        "status": 201,
        "ms": 500.0,
        "run_ms": 250.0,
        "bytes_in": 5,
        "bytes_out": 3,
        "request_id": "id",
        "client_request_id": '"mine"',
    }


def test_nothing_is_kept_when_it_is_not_wanted() -> None:
    log = AccessLog(False)
    log.add(Request(parse(b"GET / HTTP/1.0"), b""), Response(), 0.1)
    assert not log.waits
