"""If these fail, data that a run has written is in a datastore, and nobody finds it under its name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.server.conftest import Client


def body(run_id: str, **output: Any) -> dict[str, Any]:
    outputs = [{"name": "prepared", **output}]
    launch = {"command": "true", "outputs": outputs}
    return {"run_id": run_id, "workspace": "local", "experiment": "e", "kind": "script", "launch": launch}


def test_what_was_delivered_is_registered_and_shown_with_the_run(client: Client) -> None:
    client.make_run(**{**body("writes_1", registration={"name": "birds"}), "kind": "interactive"})
    assert client.ok("GET", "/api/runs/writes_1")["outputs"] == []
    made = client.ok("POST", "/api/runs/writes_1/outputs", {"complete": True})["outputs"]
    assert [(each["name"], each["registered"], each["version"]) for each in made] == [("prepared", "birds", 1)]
    assert client.ok("GET", "/api/runs/writes_1")["outputs"] == made
    assert client.ok("GET", "/api/workspaces/local/datasets/by-name/birds")["id"] == made[0]["dataset"]


@pytest.mark.parametrize(
    ("output", "words"),
    [
        ({"path": "../up"}, "no path in a datastore"),
        ({"datastore": "a/b"}, "no name of a datastore"),
        ({"registration": {"name": "a/b"}}, "no name for a dataset"),
    ],
)
def test_an_output_that_could_go_nowhere_is_refused_at_submit(
    client: Client, output: dict[str, Any], words: str
) -> None:
    refused = client.call("POST", "/api/runs", body("writes_2", **output))
    assert (refused.status, refused.code) == (422, "invalid_run")
    assert words in refused.json["title"]


def test_two_of_one_name_are_refused(client: Client) -> None:
    twice = body("writes_3")
    twice["launch"]["outputs"] *= 2
    assert client.call("POST", "/api/runs", twice).code == "invalid_run"
