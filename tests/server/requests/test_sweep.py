"""What is refused before a sweep is stored: with a sentence, and with nothing started."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.server.api.assets.test_sweeps import SWEEP, ended, submit

if TYPE_CHECKING:
    from tests.server.conftest import Client


def ask(client: Client, **asked: Any) -> Any:
    request = {"workspace": "local", "experiment": "trial", "kind": "sweep", "launch": {"command": "true"}}
    return client.call("POST", "/api/runs", {**request, "sweep": {**SWEEP, **asked}})


@pytest.mark.parametrize(
    ("asked", "code", "words"),
    [
        ({"runs": 0}, "bad_sweep", "max_total_runs"),
        ({"sampling": {"name": "GRID", "parameter_space": {}}}, "bad_sweep", "empty"),
        ({"sampling": {"name": "GRID", "parameter_space": {"a": ["uniform", [0, 1]]}}}, "bad_sweep", "A grid"),
        ({"sampling": {"name": "no_such:Thing", "parameter_space": {"a": ["choice", [[1]]]}}}, "bad_sweep", "imported"),
        ({"policy": {"name": "Bandit"}}, "bad_sweep", "slack"),
        ({"goal": "best"}, "bad_request", "goal"),
        ({"resume_from": ["nowhere"]}, "run_not_found", "nowhere"),
        ({"resume_children": ["nowhere"]}, "run_not_found", "nowhere"),
    ],
)
def test_bad_sweeps(client: Client, asked: dict[str, Any], code: str, words: str) -> None:
    answer = ask(client, **asked)
    assert (answer.code, words in answer.body.decode()) == (code, True), answer.body
    assert client.ok("GET", "/api/runs")["runs"] == []


def test_a_sweep_and_what_is_none_are_told_apart(client: Client) -> None:
    at = {"workspace": "local", "experiment": "trial"}
    assert client.call("POST", "/api/runs", {**at, "kind": "sweep", "launch": {"command": "x"}}).code == "invalid_run"
    assert client.call("POST", "/api/runs", {**at, "kind": "interactive", "sweep": SWEEP}).code == "invalid_run"
    assert client.call("POST", "/api/runs", {**at, "kind": "sweep", "sweep": SWEEP}).code == "invalid_run"


def test_a_run_may_not_have_the_server_load_code(client: Client) -> None:
    run = client.make_run()
    space = {"a": ["choice", [[1]]]}
    for own in ({"sampling": {"name": "json:Thing", "parameter_space": space}}, {"policy": {"name": "json:Thing"}}):
        answer = ask(client.as_run(run), **own)
        assert answer.code == "not_allowed", answer.body


def test_former_sweeps_that_do_not_match(client: Client) -> None:
    former = submit(client, runs=1)["id"]
    running = submit(client, "sh -c 'sleep 60'")["id"]
    assert ended(client, former)["status"] == "Completed"
    plain = client.make_run()["id"]
    assert "one can go on from Completed or Canceled" in ask(client, resume_from=[running]).json["title"]
    assert "cannot be compared" in ask(client, resume_from=[former], goal="minimize").json["title"]
    assert ask(client, resume_from=[plain]).code == "no_sweep"
    assert ask(client, resume_children=[plain]).code == "bad_sweep"
    client.ok("POST", f"/api/runs/{running}/cancel")
    ended(client, running)
    again = ask(client, resume_from=[former], resume_children=[f"{former}_0"], runs=1)
    assert again.status == 201, again.body
    assert ended(client, again.json["id"])["status"] == "Completed"
    assert client.ok("GET", f"/api/runs/{again.json['id']}_0")["tags"]["hyperparameters"] == '{"x": 1}'
