"""What is logged goes a short way: its answers are those of the usual way, and the same is stored."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from tests.server.conftest import Answer, Served
from tests.server.mlflow.conftest import Mlflow

RIGHT: list[tuple[str, dict[str, Any]]] = [
    ("log-metric", {"key": "loss", "value": 0.5, "step": 3, "timestamp": 1000, "unknown": [1]}),
    ("log-metric", {"key": 'ä"\n', "value": "NaN", "step": "4", "timestamp": "1001"}),
    ("log-metric", {"key": "loss", "value": "-Infinity", "timestamp": 1}),
    ("log-parameter", {"key": "lr", "value": 0.1}),
    ("log-parameter", {"key": "none", "value": None}),
    ("set-tag", {"key": "team", "value": "red"}),
    ("log-batch", {}),
    (
        "log-batch",
        {
            "metrics": [{"key": f"m{step % 2}", "value": step, "timestamp": 5, "step": step} for step in range(1000)],
            "params": [{"key": "p", "value": "1"}],
            "tags": [{"key": "t", "value": "2"}],
        },
    ),
]
WRONG: list[tuple[str, dict[str, Any]]] = [
    ("log-metric", {"key": "loss", "value": "much"}),
    ("log-metric", {"key": " ", "value": 1}),
    ("log-metric", {"key": "loss", "value": 1, "step": 2**80}),
    ("log-metric", {"run_id": "nobody", "run_uuid": "nobody", "key": "loss", "value": 1}),
    ("log-parameter", {"key": "lr", "value": "another"}),
    ("log-batch", {"params": [{"key": "p", "value": "1"}, {"key": "p", "value": "2"}]}),
    ("set-tag", {"value": "no key"}),
]


def post(mlflow: Mlflow, what: str, value: Any, whole: bool) -> Answer:
    body = json.dumps(value).encode() if not isinstance(value, bytes) else value

    def pieces() -> Iterator[bytes]:
        yield body

    # A body in chunks is one whose length nobody has told, and goes the usual way.
    kind = {"Content-Type": "application/json"}
    return mlflow.call("POST", f"runs/{what}", body=body if whole else pieces(), headers=kind)


def stored(mlflow: Mlflow, run: str) -> Any:
    found = mlflow.ok("GET", f"runs/get?run_id={run}")["run"]
    data = {kind: sorted(map(str, found["data"][kind])) for kind in ("metrics", "params")}
    tags = [each for each in found["data"]["tags"] if not each["key"].startswith("mlflow.")]
    names = [each["key"] for each in found["data"]["metrics"]]
    points = {name: mlflow.ok("GET", f"metrics/get-history?run_id={run}&metric_key={name}") for name in ("m0", "loss")}
    return data, sorted(map(str, tags)), sorted(names), points


def test_both_ways_lead_to_the_same(mlflow: Mlflow) -> None:
    short, usual = mlflow.run("0"), mlflow.run("0")
    for what, value in (*RIGHT, *WRONG):
        answers = [
            post(mlflow, what, {"run_id": run, "run_uuid": run, **value}, run is short) for run in (short, usual)
        ]
        said = [answer.body.replace(run.encode(), b"RUN") for answer, run in zip(answers, (short, usual), strict=True)]
        assert said[0] == said[1], (what, value)
        assert {answer.status for answer in answers} == ({200} if (what, value) in RIGHT else {answers[1].status})
        assert (answers[0].status == 200) == ((what, value) in RIGHT)
    assert stored(mlflow, short) == stored(mlflow, usual)
    for body in (b"", b"{", b"[]", b'{"key": "\\ud800", "value": 1}', b'{"a": NaN}'):
        answers = [post(mlflow, "log-metric", body, whole) for whole in (True, False)]
        assert answers[0].status == answers[1].status == 400
        assert answers[0].body == answers[1].body


def test_who_may_log_is_asked_on_both_ways(mlflow: Mlflow, mlflow_server: Served) -> None:
    mine, theirs = mlflow.run("0"), mlflow.run("0")
    point = {"key": "loss", "value": 1}
    of_run = replace(mlflow, client=replace(mlflow.client, token=mlflow_server.token_of(mine)))
    stranger = replace(mlflow, client=replace(mlflow.client, token="wrong"))
    elsewhere = replace(mlflow, workspace="nowhere")
    for asking, run, status in (
        (of_run, mine, 200),
        (of_run, theirs, 403),
        (stranger, mine, 401),
        (elsewhere, mine, 404),
    ):
        for whole in (True, False):
            assert post(asking, "log-metric", {"run_id": run, **point}, whole).status == status


@pytest.mark.parametrize("whole", [True, False])
def test_requests_are_counted_by_the_template_of_their_route(served_on_sqlite: Served, whole: bool) -> None:
    mlflow = Mlflow(served_on_sqlite.client)
    run = mlflow.run("0")
    for step in range(3):
        assert post(mlflow, "log-metric", {"run_id": run, "key": "loss", "value": 1, "step": step}, whole).status == 200
    counted = served_on_sqlite.app.state.context.meters.requests
    assert counted["POST", "/mlflow/{workspace}/api/2.0/mlflow/runs/log-metric", 200] == 3
