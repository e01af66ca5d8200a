"""What live runs take of their nodes, over the API."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from sqlalchemy import func, select

from runyard.contracts.journal import SYSTEM, line, node_writer
from runyard.contracts.observed import load
from runyard.store import tables

if TYPE_CHECKING:
    from tests.server.conftest import Served

PATH = "/api/workspaces/local/load"


def test_runs_that_go_on_and_what_their_nodes_do(served: Served) -> None:
    client = served.client
    run, ended = client.make_run(display_name="it goes on"), client.make_run()
    for node in (0, 1):
        sample = line("o", SYSTEM, 5.0 + node, None, {load.CPU_RUN: 0.5 + node})
        client.ok("POST", f"/api/runs/{run['id']}/journals/{node_writer(node, 'system-1')}?offset=0", body=sample)
    client.end(ended)
    found = {each["id"]: each for each in client.ok("GET", PATH)["runs"]}
    assert ended["id"] not in found
    assert found[run["id"]]["display_name"] == "it goes on"
    assert found[run["id"]]["load"] == [
        {"node": 0, "time": 5.0, "values": {load.CPU_RUN: 0.5}},
        {"node": 1, "time": 6.0, "values": {load.CPU_RUN: 1.5}},
    ]
    metrics = client.ok("GET", f"/api/runs/{run['id']}/metrics?source=system&by_rank=true")["metrics"][run["id"]]
    assert [(each["nodes"], each["values"]) for each in metrics] == [([0], [0.5]), ([1], [1.5])]
    assert client.ok("GET", f"/api/runs/{run['id']}/metrics/names")["metrics"] == []
    with served.app.state.context.store.database.read() as connection:
        standing = select(func.count()).select_from(tables.series).where(tables.series.c.sorted_as.is_not(None))
        assert connection.scalar(standing) == 0, "lists of runs neither show nor sort by them"


@pytest.mark.parametrize("wrong", ["limit=0", "limit=501", "limit=x"])
def test_wrong_requests(served: Served, wrong: str) -> None:
    assert served.client.get(f"{PATH}?{wrong}").status == 400
    assert served.client.get("/api/runs/x/metrics?source=elsewhere").status == 400
