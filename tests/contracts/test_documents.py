"""A real server sends what the types of its documents say: every key that they require, and none that they lack."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from runyard.client.http import Client, Locator
from runyard.client.server_process import ensure_server, stop_server
from runyard.contracts import documents, journal
from runyard.contracts.home import read_token

pytestmark = pytest.mark.slow

LOCAL = "/api/workspaces/local"
MAP = {"pattern": "AzureML-*", "interpreter": "/usr/bin/python3"}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    home = tmp_path_factory.mktemp("home")
    yield Client(Locator(ensure_server(home), read_token(home)))
    stop_server(home)


@pytest.fixture(scope="module")
def run(client: Client) -> Any:
    """A run with a log, a state and metrics of every kind."""
    made = client.post("/api/runs", {"workspace": "local", "experiment": "digits", "kind": "interactive"})
    path = f"/api/runs/{made['id']}"
    records = [
        *(("v", "loss", 0.5, 1.0, step) for step in range(3)),
        ("d", "loss", "how bad it is"),
        ("t", "table", {"a": [1]}, 1.0),
        ("a", "plot", "azureml.v2.image", "plot.png", 1.0),
    ]
    body = b"".join(journal.line(*record) for record in records)
    client.post(f"{path}/journals/rank0-w", body=body, params={"offset": 0})
    client.post(f"{path}/appends/logs/user_log.txt", body=b"text", params={"offset": 0})
    return made


def assert_fits(sent: Any, document: Any) -> None:
    required, optional = document.__required_keys__, document.__optional_keys__
    assert required <= set(sent) <= required | optional


def test_workspaces_and_experiments(client: Client, run: Any) -> None:
    assert_fits(client.get("/api/workspaces")["workspaces"][0], documents.WorkspaceDocument)
    assert_fits(client.get(f"{LOCAL}/experiments")["experiments"][0], documents.ExperimentDocument)


def test_a_run(client: Client, run: Any) -> None:
    found = client.get(f"/api/runs/{run['id']}")
    assert_fits(run, documents.RunDocument)
    assert_fits(found, documents.RunDocument)
    assert {"definition", "launch", "states", "logs"} <= set(found)
    assert_fits(found["states"][0], documents.StateDocument)
    for listed in client.get("/api/runs", {"sizes": True})["runs"]:
        assert_fits(listed, documents.RunDocument)
        assert listed["size"] > 0


def test_files(client: Client, run: Any) -> None:
    assert_fits(client.get(f"/api/runs/{run['id']}/files")["files"][0], documents.FileDocument)


@pytest.mark.parametrize("buckets", [None, 2])
def test_metrics(client: Client, run: Any, buckets: int | None) -> None:
    found = client.get(f"/api/runs/{run['id']}/metrics", {"buckets": buckets})["metrics"][run["id"]]
    assert [metric["kind"] for metric in found] == ["values", "table", "file"]
    for metric in found:
        assert_fits(metric, documents.MetricDocument)
    assert ("buckets" in found[0]) is (buckets is not None)


def test_environments(client: Client) -> None:
    for found in client.get(f"{LOCAL}/environments")["environments"]:
        assert_fits(found, documents.EnvironmentDocument)
    assert_fits(client.put(f"{LOCAL}/environment-maps", MAP)["maps"][0], documents.EnvironmentMapDocument)


def test_compute_targets(client: Client) -> None:
    target = client.get(f"{LOCAL}/compute/local")
    assert_fits(target, documents.ComputeDocument)
    assert_fits(target["status"], documents.StatusDocument)
    wanted = {"name": "pool", "engine": "local", "min_nodes": 1, "max_nodes": 1}
    assert_fits(client.post(f"{LOCAL}/compute", wanted), documents.ComputeDocument)
    assert_fits(client.get(f"{LOCAL}/compute/pool/nodes")["nodes"][0], documents.NodeDocument)


def test_usage_and_deletion(client: Client, run: Any) -> None:
    other = client.post("/api/runs", {"workspace": "local", "experiment": "other", "kind": "interactive"})
    client.post(f"/api/runs/{other['id']}/facts", {"fact": "ended", "outcome": "completed"})
    assert_fits(client.get("/api/usage")["experiments"][0], documents.ExperimentUsage)
    assert_fits(client.post("/api/usage", {"runs": [run["id"]]}), documents.Usage)
    assert_fits(client.delete(f"/api/runs/{other['id']}"), documents.Freed)
