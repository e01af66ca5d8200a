"""If these fail, what `run` returned reaches the client in another form than on Azure."""

from __future__ import annotations

import pytest

from runyard.serving.rawhttp import AMLResponse
from runyard.serving.scripts.answer import CannotEncode, answer


def test_what_a_script_returns() -> None:
    assert answer(None).body == b"{}"
    assert answer([1, "ü"]).body == b'[1, "\\u00fc"]'
    assert answer('{"a": 1}').body == b'"{\\"a\\": 1}"'
    made = answer(AMLResponse(None, 202))
    assert (made.status, made.body, made.failed) == (202, b"{}", False)
    assert answer(AMLResponse("x", 200, run_function_failed=True)).failed


def test_a_response_of_flask_passes_through() -> None:
    class Flasks:
        status_code, headers = 500, [("Content-Type", "text/plain"), ("Content-Length", "9")]

        def get_data(self) -> bytes:
            return b"whatever"

    made = answer(Flasks())
    assert (made.status, made.headers, made.failed) == (500, [("Content-Type", "text/plain")], True)


@pytest.mark.parametrize(
    "wrong",
    [object(), {1, 2}, b"bytes", AMLResponse({1}, 200, json_str=True), AMLResponse("", 200, {"a": "b\r\nc: d"})],
)
def test_what_cannot_be_sent_is_told(wrong: object) -> None:
    with pytest.raises(CannotEncode):
        answer(wrong)
