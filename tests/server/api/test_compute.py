"""If these fail, a target is made on which nothing can run, or one is removed under the runs that are on it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.server.conftest import Client, Served

PATH = "/api/workspaces/local/compute"
PATIENCE = 90.0


@pytest.fixture
def here(served_on_sqlite: Served) -> Client:
    return served_on_sqlite.client


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


REFUSED: list[tuple[dict[str, Any], str, str]] = [
    ({}, "invalid_compute", "needs max_nodes"),
    ({"name": "../x"}, "bad_name", "no name for a compute target"),
    ({"name": "x" * 64}, "bad_name", "2 to 63"),
    ({"name": "1st"}, "bad_name", "a letter first"),
    ({"name": "local"}, "invalid_compute", "always there"),
    ({"name": "AmlCompute"}, "invalid_compute", "meaning of its own"),
    ({"engine": "pbs"}, "invalid_compute", "The engines are: local, ray, slurm"),
    ({"max_nodes": -1}, "invalid_compute", "max_nodes is -1"),
    ({"max_nodes": 10_001}, "invalid_compute", "max_nodes is 10001"),
    ({"max_nodes": 1, "min_nodes": 2}, "invalid_compute", "max_nodes (1) is below min_nodes (2)"),
    ({"max_nodes": 1, "idle_seconds": -1}, "invalid_compute", "idle_seconds is -1"),
    ({"max_nodes": 1, "vm_priority": "spot"}, "invalid_compute", "'spot' is no priority"),
    ({"max_nodes": 1, "vm_size": "STANDARD_NC7"}, "unknown_vm_size", "Standard_NC6"),
    ({"max_nodes": 1, "options": {"partition": "x"}}, "invalid_compute", "takes no options"),
    ({"max_nodes": 1, "surprise": 1}, "bad_request", "surprise"),
    ({"max_nodes": "many"}, "bad_request", "max_nodes"),
    ({"max_nodes": True}, "bad_request", "max_nodes"),
    ({"engine": "ray"}, "invalid_compute", "needs the option address"),
    ({"engine": "slurm", "options": {"partion": "gpu"}}, "invalid_compute", "Did you mean 'partition'"),
    ({"engine": "slurm", "min_nodes": 1}, "invalid_compute", "has no min_nodes"),
]


def test_what_cannot_be_meant_is_refused_with_what_to_do(here: Client) -> None:
    for body, code, words in REFUSED:
        answer = here.call("POST", PATH, {"name": "cluster", **body})
        assert answer.code == code, (body, answer.body)
        assert words in answer.json["title"] + answer.json["help"], answer.body
    assert (
        here.call("POST", "/api/workspaces/nowhere/compute", {"name": "a1", "max_nodes": 1}).code
        == "workspace_not_found"
    )
    assert len(here.ok("GET", PATH)["targets"]) == 1


def test_a_name_is_taken_once(here: Client) -> None:
    here.ok("POST", PATH, {"name": "cluster", "max_nodes": 1})
    answer = here.call("POST", PATH, {"name": "cluster", "max_nodes": 2})
    assert (answer.status, answer.code) == (409, "compute_exists")


def test_changes_are_checked_too_and_this_machine_stays_as_it_is(here: Client) -> None:
    here.ok("POST", PATH, {"name": "cluster", "max_nodes": 2, "min_nodes": 1})
    for change in (
        {"max_nodes": 0},
        {"min_nodes": 3},
        {"max_nodes": None},
        {"idle_seconds": -5},
        {"options": {"a": "b"}},
    ):
        assert here.call("PATCH", f"{PATH}/cluster", change).code == "invalid_compute", change
    assert here.call("PATCH", f"{PATH}/cluster", {"vm_size": "Standard_NC6"}).code == "bad_request"
    assert here.call("PATCH", f"{PATH}/local", {"max_nodes": 9}).code == "invalid_compute"
    assert here.call("DELETE", f"{PATH}/local").code == "invalid_compute"
    assert here.call("PATCH", f"{PATH}/other", {"max_nodes": 9}).code == "compute_not_found"
    assert here.ok("GET", f"{PATH}/cluster")["max_nodes"] == 2


def test_passwords_that_old_code_sends_along_are_not_kept(here: Client) -> None:
    details = {"admin_user_name": "me", "admin_user_password": "S3cret!", "nested": {"Password": "S3cret!"}}
    made = here.ok("POST", PATH, {"name": "cluster", "max_nodes": 1, "details": details})
    assert made["details"] == {"admin_user_name": "me", "nested": {}}


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
