"""Comparing runs over the API: runs that are not there are named, and a token sees no more than elsewhere."""

from __future__ import annotations

import pytest
from tests.server.conftest import Served


def test_two_runs(served: Served) -> None:
    client = served.client
    first, second = (client.make_run(tags={"owner": owner})["id"] for owner in ("me", "you"))
    found = client.ok("GET", f"/api/comparisons?run={first}&run={second}")
    assert [run["id"] for run in found["runs"]] == [first, second]
    assert "launch" not in found["runs"][0]
    assert {"group": "tags", "name": "owner", "values": ["me", "you"], "same": False} in found["rows"]
    assert client.ok("GET", f"/api/comparisons/source?run={first}&run={second}")["files"] == []


@pytest.mark.parametrize("path", ["/api/comparisons", "/api/comparisons/source"])
def test_wrong_requests(served: Served, path: str) -> None:
    run = served.client.make_run()
    assert served.client.get(f"{path}?run={run['id']}").status == 400
    assert served.client.get(f"{path}?run={run['id']}&run=nosuch").code == "run_not_found"
    many = "&".join(f"run=r{number}" for number in range(101))
    assert served.client.get(f"{path}?{many}").status == 400
    assert served.client.as_run(run).get(f"{path}?run={run['id']}&run=nosuch").code == "not_allowed"
