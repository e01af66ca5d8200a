from __future__ import annotations

from typing import TYPE_CHECKING

from tests.server.conftest import on_both_databases

if TYPE_CHECKING:
    from tests.server.conftest import Client


@on_both_databases
def test_what_runs_and_experiments_take(client: Client) -> None:
    first, second = (client.make_run(experiment="sized") for _ in range(2))
    client.ok("PUT", f"/api/runs/{first['id']}/files/model", body=b"x" * 1000)
    client.ok("PUT", f"/api/runs/{second['id']}/files/model", body=b"x" * 1000)
    client.ok("PUT", f"/api/runs/{second['id']}/files/more", body=b"y" * 50)
    listed = client.ok("GET", "/api/runs?experiment=sized&sizes=true&order=largest")["runs"]
    assert [(run["id"], run["size"]) for run in listed] == [(second["id"], 1050), (first["id"], 1000)]
    assert "size" not in client.ok("GET", "/api/runs?experiment=sized")["runs"][0]
    both = {"runs": 2, "bytes": 1050}
    assert client.ok("POST", "/api/usage", {"runs": [first["id"], second["id"]]}) == both
    assert client.ok("POST", "/api/usage", {"experiment_id": first["experiment_id"]}) == both
    (told,) = [each for each in client.ok("GET", "/api/usage")["experiments"] if each["name"] == "sized"]
    assert told == {"id": first["experiment_id"], "workspace": "local", "name": "sized", **both}


def test_what_cannot_be_found_or_ordered_is_refused(client: Client) -> None:
    assert client.call("POST", "/api/usage", {"runs": ["nobody"]}).code == "run_not_found"
    assert client.call("POST", "/api/usage", {"experiment_id": "none"}).code == "experiment_not_found"
    assert client.call("GET", "/api/runs?order=prettiest").code == "bad_request"
    assert client.call("GET", "/api/runs?before=2026-01-01T00:00:00").code == "bad_request", "no time zone"
    assert client.ok("GET", "/api/runs?before=2026-01-01T00:00:00Z")["runs"] == []


def test_a_runs_token_does_not_see_what_others_take(client: Client) -> None:
    assert client.as_run(client.make_run()).get("/api/usage").code == "not_allowed"
