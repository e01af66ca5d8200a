"""If these fail, a page in a browser cannot call a service that lets it, or one calls that may not."""

from __future__ import annotations

import pytest

from runyard.serving.http.head import Head
from runyard.serving.http.origins import origin_headers

ALLOW, METHODS, HEADERS = (f"access-control-allow-{each}" for each in ("origin", "methods", "headers"))


@pytest.mark.parametrize(
    ("allowed", "origin", "shown"),
    [
        (["http://a", "http://b"], "http://b", {ALLOW: "http://b", "vary": "Origin"}),
        (["http://a", "http://b"], "", {ALLOW: "http://a", "vary": "Origin"}),
        (["*"], "http://c", {ALLOW: "*"}),
        (["http://a"], "http://c", {}),
        ([], "http://a", {}),
    ],
)
def test_which_pages_may_call(allowed: list[str], origin: str, shown: dict[str, str]) -> None:
    head = Head("POST", "/score", {"origin": origin} if origin else {}, True, 0)
    assert dict(origin_headers(allowed, head)) == shown


def test_before_a_request_a_browser_is_told_what_it_may_send() -> None:
    asked = {"origin": "http://a", "access-control-request-headers": "authorization, content-type"}
    told = dict(origin_headers(["http://a"], Head("OPTIONS", "/score", asked, True, 0)))
    assert (told[METHODS], told[HEADERS]) == ("GET, POST", "authorization, content-type")
    assert HEADERS not in dict(origin_headers(["http://a"], Head("OPTIONS", "/score", {"origin": "http://a"}, True, 0)))
