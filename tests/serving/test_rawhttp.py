"""If these fail, a script that takes the whole request does not find in it what Flask's request has."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.support.serving import ask, within_script

from runyard.serving.http.head import parse
from runyard.serving.http.message import Request
from runyard.serving.rawhttp import AMLRequest, AMLResponse, rawhttp


def request(text: str, body: bytes = b"") -> AMLRequest:
    return AMLRequest(Request(parse(text.replace("\n", "\r\n").encode()), body))


def test_what_scripts_use_of_a_request(tmp_path: Path) -> None:
    given = request("POST /score?a=1&a=2&b= HTTP/1.1\nhost: me\ncontent-type: application/json", b'{"x": 1}')
    assert (given.method, given.path, given.url) == ("POST", "/score", "http://me/score?a=1&a=2&b=")
    assert (given.args["a"], given.args.getlist("a"), given.args.get("c")) == ("1", ["1", "2"], None)
    assert given.headers["Content-Type"] == given.headers.get("content-type") == given.content_type
    assert given.get_data() == given.data == given.stream.read() == b'{"x": 1}'
    assert given.get_data(as_text=True) == '{"x": 1}'
    assert given.json == given.get_json() == {"x": 1}
    form = request("POST / HTTP/1.1\nhost: me\ncontent-type: application/x-www-form-urlencoded", b"a=1&b=2+3")
    assert form.form == {"a": "1", "b": "2 3"}
    assert form.get_json(silent=True) is None
    with pytest.raises(ValueError, match="content type"):
        form.get_json()
    parts = (
        b'--X\r\nContent-Disposition: form-data; name="n"\r\n\r\n7\r\n'
        b'--X\r\nContent-Disposition: form-data; name="image"; filename="a.png"\r\nContent-Type: image/png\r\n\r\n'
        b"\x89PNG\r\n\x00\xff\r\n--X--\r\n"
    )
    upload = request("POST / HTTP/1.1\nhost: me\ncontent-type: multipart/form-data; boundary=X", parts)
    assert upload.form["n"] == "7"
    image = upload.files["image"]
    assert (image.filename, image.content_type, image.read()) == ("a.png", "image/png", b"\x89PNG\r\n\x00\xff")
    image.save(str(tmp_path / "a.png"))
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_a_raw_script_answers_any_bytes() -> None:
    @rawhttp
    def run(request: AMLRequest) -> Any:
        if request.method == "GET":
            return AMLResponse({"q": request.args["q"]}, 200, json_str=True)
        return AMLResponse(request.get_data()[::-1], 201, {"Content-Type": "image/png"})

    with within_script(run) as port:
        made = ask(port, "/score", b"\x00\xffab", {"content-type": "application/octet-stream"})
        assert (made.status, made.headers["content-type"], made.body) == (201, "image/png", b"ba\xff\x00")
        assert ask(port, "/score?q=1").json() == {"q": "1"}


def test_what_a_response_says_of_itself() -> None:
    assert AMLResponse({"a": 1}, 200, json_str=True).parts() == (json.dumps({"a": 1}).encode(), "application/json")
    assert AMLResponse("text", 200).parts()[0] == b"text"
    with pytest.raises(TypeError):
        AMLResponse({1}, 200, json_str=True).parts()
