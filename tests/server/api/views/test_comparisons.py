"""Comparing runs over the API: runs that are not there are named, and a token sees no more than elsewhere."""

from __future__ import annotations

import pytest
from tests.server.conftest import Served, journal_lines

from runyard.server.api.views import comparisons


def test_two_runs(served: Served) -> None:
    client = served.client
    first, second = (client.make_run(tags={"owner": owner})["id"] for owner in ("me", "you"))
    found = client.ok("GET", f"/api/comparisons?run={first}&run={second}")
    assert [run["id"] for run in found["runs"]] == [first, second]
    assert "launch" not in found["runs"][0]
    assert {"group": "tags", "name": "owner", "values": ["me", "you"], "same": False} in found["rows"]
    assert client.ok("GET", f"/api/comparisons/source?run={first}&run={second}")["files"] == []


def test_the_curves_of_several_runs(served: Served) -> None:
    client = served.client
    first, second, silent = (client.make_run()["id"] for _ in range(3))
    points = [["v", "loss", 1 / (step + 1), 1e9 + step, step] for step in range(10)]
    client.ok("POST", f"/api/runs/{first}/journals/w?offset=0", body=journal_lines(*points))
    odd = [["v", "loss", 2.0, 5.0, None], ["v", "loss", {"f": "nan"}, 6.0, None], ["v", "acc", 3, 7.0, 1]]
    client.ok("POST", f"/api/runs/{second}/journals/w?offset=0", body=journal_lines(*odd))
    found = client.ok("GET", f"/api/comparisons/curves?run={second}&run={first}&run={silent}&name=loss&buckets=5")
    one, other = sorted(found["curves"], key=lambda curve: curve["count"])
    assert (one["run"], one["values"], one["steps"], one["times"]) == (second, [2.0, {"f": "nan"}], None, [5.0, 6.0])
    assert one["positions"] is None
    assert (other["run"], other["count"], other["low"]) == (first, 10, None)
    assert other["values"] == [1 / 2, 1 / 4, 1 / 6, 1 / 8, 1 / 10]
    assert other["positions"] == other["steps"] == [1, 3, 5, 7, 9]
    again = client.ok("GET", f"/api/comparisons/curves?run={first}&name=loss&name=no&buckets=2&bands=true")["curves"]
    assert [(each["low"], each["high"]) for each in again] == [([1 / 5, 1 / 10], [1.0, 1 / 6])]
    assert client.get(f"/api/comparisons/curves?run={first}").status == 400
    assert client.get(f"/api/comparisons/curves?run={first}&run=no&name=loss").code == "run_not_found"


def test_very_many_curves_have_fewer_points_each(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a hundred runs with twenty metrics are eight million points in the server's memory, for any run's token."""
    monkeypatch.setattr(comparisons, "MOST_TOGETHER", 8)
    client = served.client
    runs = [client.make_run()["id"] for _ in range(2)]
    for run in runs:
        points = [["v", "loss", step, 1e9 + step, step] for step in range(10)]
        client.ok("POST", f"/api/runs/{run}/journals/w?offset=0", body=journal_lines(*points))
    asked = f"/api/comparisons/curves?run={runs[0]}&run={runs[1]}&name=loss&name=loss"
    assert [len(each["values"]) for each in client.ok("GET", asked)["curves"]] == [4, 4]


@pytest.mark.parametrize("path", ["/api/comparisons", "/api/comparisons/source"])
def test_wrong_requests(served: Served, path: str) -> None:
    run = served.client.make_run()
    assert served.client.get(f"{path}?run={run['id']}").status == 400
    assert served.client.get(f"{path}?run={run['id']}&run=nosuch").code == "run_not_found"
    many = "&".join(f"run=r{number}" for number in range(101))
    assert served.client.get(f"{path}?{many}").status == 400
    assert served.client.as_run(run).get(f"{path}?run={run['id']}&run=nosuch").code == "not_allowed"
