"""If these fail, a target is made on which nothing can run, or one is removed under the runs that are on it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from tests.server.conftest import on_both_databases

if TYPE_CHECKING:
    from tests.server.conftest import Client

PATH = "/api/workspaces/local/compute"
PATIENCE = 90.0


@on_both_databases
def test_targets_are_made_found_changed_and_removed(client: Client) -> None:
    (machine,) = client.ok("GET", PATH)["targets"]
    assert (machine["name"], machine["engine"], machine["type"]) == ("local", "local", "local")
    wanted = {"name": "gpu-cluster", "vm_size": "STANDARD_NC6", "max_nodes": 4, "details": {"tags": {"a": "b"}}}
    answer = client.call("POST", PATH, wanted)
    assert answer.status == 201, answer.body
    made = answer.json
    assert made["resources"] == {"cores": 6, "memory_mb": 57344, "gpus": 1}
    assert (made["type"], made["vm_priority"], made["min_nodes"], made["max_nodes"]) == (
        "AmlCompute",
        "dedicated",
        0,
        4,
    )
    assert (made["idle_seconds"], made["provisioning_state"]) == (1800, "Succeeded")
    assert made["details"] == {"tags": {"a": "b"}}
    assert made["created_at"] == made["modified_at"] != ""
    status = made["status"]
    assert (status["allocation_state"], status["current_nodes"], status["errors"]) == ("Steady", 0, [])
    assert set(status["counts"]) == {"idle", "preparing", "running", "leaving", "unusable", "preempted"}
    assert client.ok("GET", f"{PATH}/gpu-cluster")["name"] == "gpu-cluster"
    assert [each["name"] for each in client.ok("GET", PATH)["targets"]] == ["local", "gpu-cluster"]
    changed = client.ok("PATCH", f"{PATH}/gpu-cluster", {"max_nodes": 6, "idle_seconds": 0})
    assert (changed["max_nodes"], changed["idle_seconds"], changed["min_nodes"]) == (6, 0, 0)
    assert changed["created_at"] == made["created_at"] < changed["modified_at"]
    assert changed["details"] == {"tags": {"a": "b"}}
    assert client.ok("DELETE", f"{PATH}/gpu-cluster")["name"] == "gpu-cluster"
    for method in ("GET", "DELETE"):
        answer = client.call(method, f"{PATH}/gpu-cluster")
        assert (answer.status, answer.code) == (404, "compute_not_found")
    assert "It has: local." in answer.json["help"]


def test_a_name_is_taken_once(here: Client) -> None:
    here.ok("POST", PATH, {"name": "cluster", "max_nodes": 1})
    answer = here.call("POST", PATH, {"name": "cluster", "max_nodes": 2})
    assert (answer.status, answer.code) == (409, "compute_exists")


@pytest.mark.parametrize(
    ("engine", "options"),
    [("ray", {"address": "127.0.0.1:1"}), ("slurm", {"partition": "gpu", "commands": "/nowhere/at/all"})],
)
def test_a_cluster_that_cannot_be_used_is_not_attached(here: Client, engine: str, options: dict[str, str]) -> None:
    answer = here.call("POST", PATH, {"name": "hpc", "engine": engine, "options": options})
    assert answer.code in ("engine_refused", "engine_away")
    assert len(answer.json["title"]) > 20
    assert here.call("GET", f"{PATH}/hpc").code == "compute_not_found"


def test_a_run_reads_the_targets_of_its_workspace_and_changes_nothing(here: Client) -> None:
    here.ok("POST", PATH, {"name": "cluster", "max_nodes": 1})
    here.ok("POST", "/api/workspaces", {"name": "other", "subscription_id": "s", "resource_group": "g"})
    run = here.make_run()
    inside = here.as_run(run)
    assert inside.ok("GET", f"{PATH}/cluster")["name"] == "cluster"
    assert len(inside.ok("GET", PATH)["targets"]) == 2
    assert inside.ok("GET", f"{PATH}/cluster/nodes") == {"nodes": []}
    assert inside.call("GET", "/api/workspaces/other/compute").code == "not_allowed"
    assert inside.call("POST", PATH, {"name": "mine", "max_nodes": 1}).code == "not_allowed"
    assert inside.call("PATCH", f"{PATH}/cluster", {"max_nodes": 2}).code == "not_allowed"
    assert inside.call("DELETE", f"{PATH}/cluster").code == "not_allowed"
    here.end(run)


@pytest.fixture
def sleeper(here: Client) -> Iterator[dict[str, Any]]:
    """A run on the target `cluster` that does not end by itself."""
    here.ok("POST", PATH, {"name": "cluster", "max_nodes": 2, "idle_seconds": 0})
    run: dict[str, Any] = here.make_run(kind="script", target="cluster", launch={"command": "sleep 600"})
    yield run
    here.ok("POST", f"/api/runs/{run['id']}/cancel")
    wait_for(here, run["id"], "Canceled")


def wait_for(client: Client, run_id: str, status: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while (seen := client.ok("GET", f"/api/runs/{run_id}")["status"]) != status:
        assert time.monotonic() < deadline, f"the run is {seen}"
        time.sleep(0.1)


def test_a_target_is_not_removed_under_its_runs(here: Client, sleeper: dict[str, Any]) -> None:
    answer = here.call("DELETE", f"{PATH}/cluster")
    assert (answer.status, answer.code) == (409, "compute_in_use")
    assert sleeper["id"] in answer.json["title"]
    assert f"runyard stop {sleeper['id']}" in answer.json["help"]
    assert answer.json["detail"] == {"runs": [sleeper["id"]]}
    wait_for(here, sleeper["id"], "Running")
    (node,) = here.ok("GET", f"{PATH}/cluster/nodes")["nodes"]
    assert (node["state"], node["run_id"]) == ("running", sleeper["id"])
    status = here.ok("GET", f"{PATH}/cluster")["status"]
    assert (status["current_nodes"], status["counts"]["running"]) == (1, 1)
    here.ok("POST", f"/api/runs/{sleeper['id']}/cancel")
    wait_for(here, sleeper["id"], "Canceled")
    assert here.ok("DELETE", f"{PATH}/cluster")["name"] == "cluster"
