"""What a client may ask for when it makes or changes a compute target."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.server.conftest import Client

PATH = "/api/workspaces/local/compute"

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
