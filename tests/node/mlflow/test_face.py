"""What a script logs is answered at once, with no server in reach, and is in a journal then."""

from __future__ import annotations

import base64
import http.client
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from tests.node.mlflow.conftest import Spoken, plan_of

from runyard.node.mlflow.address import Address

RUN = {"run_id": "run-1"}


def test_logging_needs_no_server(spoken: Spoken) -> None:
    def ok(path: str, **value: Any) -> Any:
        status, answer = spoken.ask("POST", f"mlflow/runs/{path}", {**RUN, **value})
        assert status == 200, answer
        return answer

    ok("log-metric", key="acc", value="NaN", timestamp="1500", step="3")
    metrics = [{"key": "m", "value": 1.5, "timestamp": 1000, "step": 1, "model_id": "m-1"}]
    params, tags = [{"key": "lr", "value": "0.1"}], [{"key": "t", "value": "1"}]
    ok("log-batch", metrics=metrics, params=params, tags=tags)
    ok("log-parameter", key="lr", value="0.1")
    ok("set-tag", key="mlflow.runName", value="n")
    ok("delete-tag", key="t")
    ok("log-inputs", datasets=[{"dataset": {"name": "d"}}])
    ok("outputs", models=[{"model_id": "m-1", "step": 1}])
    ok("log-model")
    info = ok("update", status="FINISHED", run_name="other")["run_info"]
    assert (info["status"], info["run_name"]) == ("RUNNING", "other")
    status, seen = spoken.ask("GET", "mlflow/runs/get?run_id=run-1")
    assert (status, seen["run"]["info"]["artifact_uri"]) == (200, "mlflow-artifacts:/e-1/run-1/artifacts")
    assert spoken.ask("PUT", "mlflow-artifacts/artifacts/e-1/run-1/artifacts/a/b.txt", body=b"content")[0] == 200
    assert spoken.ask("PUT", "mlflow-artifacts/artifacts/e-1/run-1/artifacts/empty", body=iter([]))[0] == 200
    records = spoken.records()
    assert records[0] == ["v", "acc", {"f": "nan"}, 1.5, 3]
    assert ["v", "m", 1.5, 1.0, 1] in records
    assert ["P", {"lr": "0.1"}] in records
    assert ["g", {"mlflow.runName": "other"}] in records
    assert ["G", ["t"]] in records
    assert [record[1] for record in records if record[0] == "m"] == ["measured", "inputs", "outputs"]
    assert not [record for record in records if record[0] == "e"]
    files = {record[1]: record[2] for record in records if record[0] == "f"}
    assert (spoken.folder / "telemetry" / "spool" / files["outputs/a/b.txt"]).read_bytes() == b"content"
    assert (spoken.folder / "telemetry" / "spool" / files["outputs/empty"]).read_bytes() == b""


def test_what_mlflow_limits_is_not_limited_here(spoken: Spoken) -> None:
    odd = "any name: /\u00fcnd \U0001d6fc \"'`\n\u2028"
    given = {f"p{number} {odd}": "v" * 20 for number in range(10_000)}
    given["long"] = "x" * 1_000_000
    params = [{"key": key, "value": value} for key, value in given.items()]
    metrics = [{"key": f"{odd}{step % 7}", "value": step, "timestamp": 1000, "step": step} for step in range(5000)]
    tags = [{"key": "none", "value": None}, {"key": "number", "value": 0}, {"key": odd * 1000, "value": odd}]
    asked = {**RUN, "params": params, "metrics": metrics, "tags": tags, "unknown": [1]}
    assert spoken.ask("POST", "mlflow/runs/log-batch", asked) == (200, {})
    records = spoken.records()
    assert [record[4] for record in records if record[0] == "v"] == list(range(5000))
    assert ["P", given] in records
    assert ["g", {"none": "", "number": "0", odd * 1000: odd}] in records
    name = "a ü%2F#?'\".txt"
    path = f"mlflow-artifacts/artifacts/e-1/run-1/artifacts/{quote(name)}"
    assert spoken.ask("PUT", path, body=b"content")[0] == 200
    assert [record[1] for record in spoken.records() if record[0] == "f"] == [f"outputs/{name}"]


def test_what_is_wrong_is_refused_with_mlflows_codes(spoken: Spoken) -> None:
    def refused(path: str, value: Any = None, method: str = "POST", **more: Any) -> tuple[int, str]:
        status, answer = spoken.ask(method, path, value, **more)
        return status, answer["error_code"]

    invalid = (400, "INVALID_PARAMETER_VALUE")
    assert spoken.ask("POST", "mlflow/runs/log-parameter", {**RUN, "key": "lr", "value": "1"})[0] == 200
    assert refused("mlflow/runs/log-parameter", {**RUN, "key": "lr", "value": "2"}) == invalid
    twice = [{"key": "a", "value": "1"}, {"key": "a", "value": "2"}]
    assert refused("mlflow/runs/log-batch", {**RUN, "params": twice}) == invalid
    for wrong in ({"value": "x"}, {"value": 1, "step": 2**70}, {"value": 1, "key": " "}, {"value": None}, {}):
        assert refused("mlflow/runs/log-metric", {**RUN, "key": "m", **wrong}) == invalid
    assert refused("mlflow/runs/log-batch", {**RUN, "metrics": "many"}) == invalid
    assert refused("mlflow/runs/log-batch", body=b"[1]") == invalid
    assert refused("mlflow/runs/log-batch", body=b"{" * 100_000) == invalid
    assert refused("mlflow-artifacts/artifacts/e/run-1/artifacts/../../x", method="PUT", body=b"x") == invalid
    unknown = (401, "UNAUTHENTICATED")
    assert refused("mlflow/runs/get?run_id=run-1", method="GET", token="run.t") == unknown
    away = (400, "TEMPORARILY_UNAVAILABLE")
    assert refused("mlflow/runs/create", {"experiment_id": "e-1"}) == away
    assert refused("mlflow/runs/get?run_id=other", method="GET") == away
    assert refused("mlflow/runs/log-metric", {"run_id": "other", "key": "m", "value": 1}) == away
    assert refused("mlflow/experiments/get-by-name?experiment_name=x", method="GET") == away


def test_the_links_that_the_client_prints_lead_to_the_pages_of_the_server(spoken: Spoken) -> None:
    for path in ("/mlflow/local/", "/mlflow/local"):
        connection = http.client.HTTPConnection("127.0.0.1", spoken.address.port, timeout=30)
        connection.request("GET", path)  # as a browser: without a token
        response = connection.getresponse()
        assert (response.status, response.read()) == (302, b"")
        assert response.getheader("Location") == f"{spoken.plan.server_url}/mlflow/local/"
        connection.request("GET", "/mlflow/other/")
        assert connection.getresponse().status == 401
        connection.close()


@pytest.mark.parametrize(
    "credentials", ["", "Bearer", "Basic !", "Basic " + base64.b64encode(b"\xff").decode(), "Digest x"]
)
def test_nobody_else_is_answered(spoken: Spoken, credentials: str) -> None:
    from runyard.node.mlflow.face import Face

    face = Face(spoken.plan, spoken.folder, "secret")
    assert not face._is_known(credentials)
    assert face._is_known("Basic " + base64.b64encode(b"me:secret").decode())


def test_another_program_at_the_port_of_a_server_that_has_ended_is_not_believed(tmp_path: Path) -> None:
    class Stranger(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_error(401)

        def log_message(self, format: str, *arguments: object) -> None:
            pass

    (tmp_path / "telemetry" / "journal").mkdir(parents=True)
    with HTTPServer(("127.0.0.1", 0), Stranger) as stranger:
        threading.Thread(target=stranger.serve_forever, daemon=True).start()
        plan = plan_of(server_url=f"http://127.0.0.1:{stranger.server_port}")
        address = Address(plan, tmp_path)
        address.answer()
        status, said = Spoken(address, tmp_path, plan).ask("GET", "mlflow/runs/get?run_id=run-1")
        stranger.shutdown()
    assert (status, said["run"]["info"]["run_id"]) == (200, "run-1")
