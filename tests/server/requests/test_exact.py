"""What stands in a query comes as it was sent, also a name that is no UTF-8."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from starlette.requests import Request

from runyard.server.requests.exact import exact


@pytest.mark.parametrize("name", ["a b", "\udcff", "ü/\udce9?&=+%", "x\ny"])
def test_a_name_comes_as_it_was_sent(name: str) -> None:
    query = f"other=1&path={quote(name, errors='surrogateescape')}&path=second"
    request = Request({"type": "http", "query_string": query.encode("ascii"), "headers": []})
    assert exact(request, "path", str(request.query_params.getlist("path")[0])) == name


def test_bytes_that_nobody_has_escaped_harm_nothing() -> None:
    request = Request({"type": "http", "query_string": b"path=\xff\xfe", "headers": []})
    assert exact(request, "path", "\ufffd\ufffd")
