"""If these fail, `run` is called in another way than on Azure."""

from __future__ import annotations

from typing import Any

import pytest

from runyard.serving.failure import CannotServe
from runyard.serving.http.head import BadRequest, parse
from runyard.serving.http.message import Request
from runyard.serving.rawhttp import rawhttp
from runyard.serving.scripts import schemas
from runyard.serving.scripts.schema_types import StandardPythonParameterType
from runyard.serving.scripts.script import Script


def post(body: bytes, kind: str = "application/json") -> Request:
    return Request(parse(f"POST /score HTTP/1.0\r\nContent-Type: {kind}\r\nX-Mine: 1".encode()), body)


def test_the_body_as_text_whatever_its_type() -> None:
    script = Script(lambda data: data)
    assert script.run(post(b"a=1", "application/x-www-form-urlencoded")) == "a=1"
    assert script.run(Request(parse(b"GET /score?a=1 HTTP/1.0"), b"")) == '{"a": 1}'
    with pytest.raises(BadRequest, match="UTF-8"):
        script.run(post(b"\xff"))


def test_headers_for_whoever_wants_them() -> None:
    def run(data: str, request_headers: dict[str, str]) -> Any:
        return data, request_headers["X-Mine"]

    assert Script(run).run(post(b"x")) == ("x", "1")


def test_named_arguments_of_a_schema(monkeypatch: pytest.MonkeyPatch) -> None:
    schemas.stand_in()

    @schemas.input_schema("count", StandardPythonParameterType(1), optional=True)
    @schemas.input_schema("name", StandardPythonParameterType("a"))
    def run(name: str, count: int = 3) -> Any:
        return name * count

    script = Script(run)
    assert script.schema is not None
    assert script.run(post(b'{"Name": "ab"}')) == "ababab"
    assert script.run(post(b'{"name": "ab", "count": 1}')) == "ab"
    for body, told in (
        (b"", "empty"),
        (b"{", "not JSON"),
        (b"[1]", "not a JSON object"),
        (b'{"count": 1}', "lacks name"),
    ):
        with pytest.raises(BadRequest, match=told) as wrong:
            script.run(post(body))
        assert wrong.value.status == 400
    with pytest.raises(BadRequest) as wrong:
        script.run(post(b"{}", "text/plain"))
    assert wrong.value.status == 415
    with pytest.raises(CannotServe, match="both"):
        Script(rawhttp(run))


@pytest.mark.parametrize("run", [lambda *data: 1, lambda **data: 1, lambda request_headers: 1, lambda: 1])
def test_a_run_that_cannot_be_called_is_refused(run: Any) -> None:
    with pytest.raises(CannotServe):
        Script(run)
