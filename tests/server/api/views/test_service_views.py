"""Looking at a service through the server: one that is not there, or does not answer, is told apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.support.filled_assets import WS, service

if TYPE_CHECKING:
    from tests.server.conftest import Served

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(("method", "path"), [("GET", "numbers"), ("GET", "description"), ("POST", "trial")])
def test_a_service_that_is_not_there(served: Served, method: str, path: str) -> None:
    assert served.client.call(method, f"{WS}/services/none/{path}", {}).status == 404


def test_a_service_is_asked_with_its_own_key(served: Served) -> None:
    client = served.client
    service(client, "adder", authentication="key")
    place = f"{WS}/services/adder"
    found = client.ok("POST", f"{place}/trial", {"data": [1, 2]})
    assert (found["status"], found["body"], found["cut"]) == (200, '{"sum": 3}', False)
    assert client.ok("POST", f"{place}/trial", {"data": ["x"]})["status"] >= 500
    numbers = client.ok("GET", f"{place}/numbers")["numbers"]
    assert (numbers["requests"], numbers["errors"]) == (2.0, 1.0)
    described = client.ok("GET", f"{place}/description")["description"]
    assert described["info"]["title"] == "adder"
    client.ok("DELETE", place)
    assert client.call("GET", f"{place}/numbers").status == 404
