"""What a client of MLflow sends wrong: it gets MLflow's error code, and a sentence that says what to do."""

from __future__ import annotations

import base64
from dataclasses import replace
from typing import Any

from tests.server.conftest import Served
from tests.server.mlflow.conftest import Mlflow

INVALID, MISSING = "INVALID_PARAMETER_VALUE", "RESOURCE_DOES_NOT_EXIST"
LONG = "x" * 100_000


def test_requests_that_are_wrong_are_refused_with_mlflows_codes(mlflow: Mlflow) -> None:
    experiment = mlflow.experiment()
    run = mlflow.run(experiment)
    wrong: list[tuple[str, str, Any, int, str]] = [
        ("POST", "runs/search", {"experiment_ids": [experiment], "filter": "metrics.a ="}, 400, INVALID),
        ("POST", "runs/search", {"experiment_ids": [experiment], "filter": f"metrics.{LONG} ~ 3"}, 400, INVALID),
        ("POST", "runs/search", {"experiment_ids": [experiment], "filter": "(" * 100_000}, 400, INVALID),
        ("POST", "runs/search", {"experiment_ids": [experiment], "page_token": LONG}, 400, INVALID),
        ("POST", "runs/search", {"experiment_ids": [experiment], "run_view_type": "SOME"}, 400, INVALID),
        ("POST", "runs/create", {"experiment_id": "1" * 100_000}, 404, MISSING),
        ("GET", "runs/get?run_id=nobody", None, 404, MISSING),
        ("GET", "runs/get", None, 400, INVALID),
        ("POST", "runs/log-metric", {"run_id": run, "key": "a", "value": "much"}, 400, INVALID),
        ("POST", "runs/log-metric", {"run_id": run, "key": " ", "value": 1}, 400, INVALID),
        ("POST", "runs/log-metric", {"run_id": run, "key": "a", "value": 1, "step": 2**80}, 400, INVALID),
        ("POST", "runs/update", {"run_id": run, "status": "SLEEPING"}, 400, INVALID),
        ("POST", "runs/delete-tag", {"run_id": run, "key": "none"}, 404, MISSING),
        ("POST", "experiments/create", {"name": "trial"}, 400, "RESOURCE_ALREADY_EXISTS"),
        ("POST", "experiments/create", {"name": LONG}, 400, INVALID),
        ("POST", "experiments/create", {"name": " "}, 400, INVALID),
        ("POST", "experiments/create", {"name": "s3", "artifact_location": "s3://mine"}, 400, INVALID),
        ("POST", "experiments/delete", {"experiment_id": "0"}, 404, MISSING),
        ("POST", "model-versions/create", {"name": "none", "source": "runs:/x/y"}, 404, MISSING),
        ("GET", "model-versions/get?name=a&version=one", None, 404, MISSING),
        ("GET", f"registered-models/get?name={'n' * 5000}", None, 404, MISSING),
        ("POST", "registered-models/create", {"name": "../up"}, 400, INVALID),
        ("GET", "traces/unknown", None, 404, "ENDPOINT_NOT_FOUND"),
        ("POST", "runs/create", None, 400, INVALID),
    ]
    for method, path, value, status, code in wrong:
        found = mlflow.refused(method, path, value)
        assert found[:2] == (status, code), (method, path[:60], found)
        assert len(found[2]) < 5000
    assert mlflow.refused("POST", "runs/log-batch", body=b"{" * 100_000)[1] == INVALID
    assert "character 12" in mlflow.refused(*wrong[0][:3])[2]
    assert "no traces" in mlflow.refused("POST", "traces", {})[2]
    for path, value in (("traces", {}), ("runs/create", None)):  # MLflow's routes are not in it
        assert "openapi" not in mlflow.refused("POST", path, value)[2]
    assert mlflow.ok("POST", "experiments/delete", {"experiment_id": experiment}) == {}
    assert mlflow.refused("POST", "runs/create", {"experiment_id": experiment})[1] == INVALID


def test_what_mlflow_limits_is_not_limited_here(mlflow: Mlflow) -> None:
    experiment = mlflow.experiment("any name: /ünd \U0001d6fc \"'`")
    assert mlflow.ok("GET", f"experiments/get?experiment_id={experiment}")["experiment"]["name"].startswith("any name")
    run = mlflow.run(experiment, unknown_field=[1], start_time="1600000000000", tags=None)
    params = [{"key": f"p{number} \n\"'/", "value": "v" * 20} for number in range(10_000)]
    mlflow.ok("POST", "runs/log-batch", {"run_id": run, "params": [*params, {"key": "long", "value": LONG}]})
    mlflow.ok(
        "POST", "runs/log-metric", {"run_uuid": run, "key": LONG, "value": "-Infinity", "timestamp": "5", "step": "7"}
    )
    found = mlflow.ok("GET", f"runs/get?run_uuid={run}")["run"]
    assert len(found["data"]["params"]) == 10_001
    assert found["data"]["metrics"] == [{"key": LONG, "value": "-Infinity", "timestamp": 5, "step": 7}]
    assert found["info"]["start_time"] == 1_600_000_000_000
    fixed = mlflow.refused("POST", "runs/log-parameter", {"run_id": run, "key": "long", "value": "other"})
    assert fixed[:2] == (400, INVALID)
    twice = [{"key": "twice", "value": "1"}, {"key": "twice", "value": "2"}]
    assert mlflow.refused("POST", "runs/log-batch", {"run_id": run, "params": twice})[1] == INVALID


def test_artifacts_never_leave_their_folder(mlflow: Mlflow) -> None:
    experiment = mlflow.experiment()
    run = mlflow.run(experiment)
    root = f"{experiment}/{run}/artifacts"
    assert mlflow.artifact("PUT", f"{root}/a/b.txt", body=b"0123456789").status == 200
    for name in ("../../x", "%2e%2e/x", "a/../../x", "..%5cx", "/etc/passwd", "%2Fetc/passwd", ""):
        answer = mlflow.artifact("PUT", f"{root}/{name}", body=b"x")
        assert answer.status in (200, 400, 404), (name, answer.body)
    assert mlflow.artifact("PUT", "../../runs/x", body=b"x").status in (400, 404, 405)
    names = {each["name"] for each in mlflow.client.ok("GET", f"/api/runs/{run}/files")["files"]}
    assert all(name.startswith("outputs/") and ".." not in name for name in names)
    part = mlflow.artifact("GET", f"{root}/a/b.txt", headers={"Range": "bytes=2-4"})
    assert (part.status, part.body) == (206, b"234")
    assert part.headers["content-disposition"].startswith("attachment")
    assert part.headers["x-content-type-options"] == "nosniff"
    assert mlflow.artifact("GET", f"{root}/none").json["error_code"] == MISSING
    assert mlflow.ok("GET", f"artifacts/list?run_id={run}&path=a")["files"] == [
        {"path": "a/b.txt", "is_dir": False, "file_size": 10}
    ]
    assert mlflow.refused("GET", f"artifacts/list?run_id={run}&path=../..")[1] == INVALID
    assert mlflow.artifact("DELETE", f"{root}/a").status == 200
    assert mlflow.ok("GET", f"artifacts/list?run_id={run}&path=a")["files"] == []


def test_who_may_do_what(served_on_sqlite: Served) -> None:
    client = served_on_sqlite.client
    mlflow = Mlflow(client)
    client.ok("POST", "/api/workspaces", {"name": "other", "subscription_id": "s", "resource_group": "g"})
    experiment = mlflow.experiment()
    mine, theirs = mlflow.run(experiment), mlflow.run(experiment)
    of_run = Mlflow(replace(client, token=served_on_sqlite.token_of(mine)))
    stranger = Mlflow(replace(client, token="wrong"))
    assert stranger.refused("GET", f"runs/get?run_id={mine}")[:2] == (401, "UNAUTHENTICATED")
    assert Mlflow(replace(client, token=None)).refused("POST", "runs/search", {})[0] == 401
    basic = base64.b64encode(f"anybody:{client.token}".encode()).decode()
    with_password = Mlflow(replace(client, token=None, headers={"Authorization": f"Basic {basic}"}))
    assert with_password.ok("GET", f"runs/get?run_id={mine}")["run"]["info"]["run_id"] == mine
    for bad in ("Basic x", "Basic ????", "Basic " + base64.b64encode(b"\xff").decode()):
        assert Mlflow(replace(client, token=None, headers={"Authorization": bad})).refused("GET", "runs/get")[0] == 401

    of_run.ok("POST", "runs/log-metric", {"run_id": mine, "key": "a", "value": 1})
    assert of_run.ok("GET", f"runs/get?run_id={theirs}")["run"]["info"]["run_id"] == theirs
    denied = (403, "PERMISSION_DENIED")
    assert of_run.refused("POST", "runs/log-metric", {"run_id": theirs, "key": "a", "value": 1})[:2] == denied
    assert of_run.refused("POST", "runs/delete", {"run_id": mine})[:2] == denied
    assert of_run.refused("POST", "experiments/delete", {"experiment_id": experiment})[:2] == denied
    root = f"{experiment}/{theirs}/artifacts"
    assert of_run.artifact("PUT", f"{root}/x", body=b"x").status == 403
    elsewhere = Mlflow(of_run.client, "other")
    assert elsewhere.refused("POST", "experiments/search", {})[:2] == denied
    assert elsewhere.refused("GET", f"runs/get?run_id={mine}")[:2] == denied
    assert Mlflow(client, "other").refused("GET", f"runs/get?run_id={mine}")[:2] == (404, MISSING)
    assert Mlflow(client, "nowhere").refused("POST", "experiments/search", {})[:2] == (404, MISSING)
    child = of_run.run(experiment, tags=[{"key": "mlflow.parentRunId", "value": mine}])
    assert client.ok("GET", f"/api/runs/{child}")["parent_id"] == mine
    client.ok("PUT", "/api/workspaces/local/settings/runs.scope", {"value": "run"})
    assert of_run.refused("GET", f"runs/get?run_id={theirs}")[:2] == denied
    assert of_run.refused("POST", "runs/search", {"experiment_ids": [experiment]})[:2] == denied
    assert of_run.ok("GET", f"runs/get?run_id={mine}")["run"]["info"]["run_id"] == mine
    of_run.ok("POST", "runs/log-batch", {"run_id": child, "metrics": [{"key": "a", "value": 2, "timestamp": 1}]})
