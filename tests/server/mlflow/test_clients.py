"""What MLflow's own clients do against the server: the current one, and that of the year before."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
from tests.server.conftest import Client, Served
from tests.support.frameworks import environment

from runyard.contracts.states import CANCELED, COMPLETED

SUPPORT = Path(__file__).resolve().parents[2] / "support"

_SEEN = re.compile(r'runyard_requests_total{method="(\w+)",route="/mlflow/{workspace}/api/([^"]+)",status="200"}')

CALLS = {
    *("GET experiments/get-by-name", "POST experiments/create", "GET experiments/get", "POST experiments/search"),
    *(f"POST experiments/{name}" for name in ("update", "delete", "restore", "set-experiment-tag")),
    *("POST runs/create", "GET runs/get", "POST runs/update", "POST runs/search"),
    *(f"POST runs/log-{name}" for name in ("metric", "parameter", "batch", "inputs")),
    *(f"POST runs/{name}" for name in ("set-tag", "delete-tag", "delete", "restore")),
    "GET metrics/get-history",
    *("POST registered-models/create", "GET registered-models/get", "PATCH registered-models/update"),
    *("POST registered-models/rename", "DELETE registered-models/delete", "GET registered-models/search"),
    *(f"{method} registered-models/alias" for method in ("POST", "GET", "DELETE")),
    "POST registered-models/get-latest-versions",
    *("POST model-versions/create", "GET model-versions/get", "PATCH model-versions/update"),
    *("DELETE model-versions/delete", "GET model-versions/search", "GET model-versions/get-download-uri"),
    "POST model-versions/transition-stage",
    *(f"POST {registry}/set-tag" for registry in ("registered-models", "model-versions")),
    *(f"DELETE {registry}/delete-tag" for registry in ("registered-models", "model-versions")),
    *(f"{method} /2.0/mlflow-artifacts/artifacts/{{path:file}}" for method in ("PUT", "GET", "DELETE")),
    "GET /2.0/mlflow-artifacts/artifacts",
}
"""What a client asks of a server in training, querying, artifacts and the registry."""

OF = {
    "mlflow": {
        *("POST experiments/delete-experiment-tag", "POST runs/outputs", "GET /3.0/mlflow/server-info"),
        *("POST logged-models", "POST logged-models/search"),
        *(f"{method} logged-models/{{model_id}}" for method in ("GET", "PATCH", "DELETE")),
        *("POST logged-models/{model_id}/params", "PATCH logged-models/{model_id}/tags"),
        "DELETE logged-models/{model_id}/tags/{key:file}",
    },
    "mlflow2": {"POST runs/log-model"},
}
"""What only one of the clients asks."""


@pytest.mark.parametrize("framework", ["mlflow", "mlflow2"])
def test_a_user_of_mlflow_finds_all_that_its_client_can_do(served: Served, framework: str, tmp_path: Path) -> None:
    client = served.client
    made = json.loads(_told(client, framework, "mlflow_story.py", tmp_path).splitlines()[-1])

    # The same through our face, at once.
    run = client.ok("GET", f"/api/runs/{made['run']}")
    assert (run["status"], run["display_name"], run["description"]) == (COMPLETED, "first", "what it is")
    assert run["parameters"]["lr"] == "0.1"
    assert run["tags"]["team"] == "red"
    found = client.ok("GET", f"/api/runs/{made['run']}/metrics")["metrics"][made["run"]]
    metrics = {each["name"]: each for each in found}
    assert metrics["acc"]["values"] == [0.0, 0.1, 0.2, 0.3, 0.4, 0.6]
    assert metrics["acc"]["steps"] == [0, 1, 2, 3, 4, 9]
    files = {each["name"] for each in client.ok("GET", f"/api/runs/{made['run']}/files")["files"]}
    assert {"outputs/x ü.txt", "outputs/all/sub/y.bin", "outputs/notes/a.txt"} <= files
    children = client.ok("GET", f"/api/runs?parent={made['run']}")["runs"]
    assert [child["id"] for child in children] == [made["inner"]]
    assert client.ok("GET", f"/api/runs/{made['batches']}")["status"] != CANCELED  # FAILED was said last
    model = client.ok("GET", "/api/workspaces/local/models/story.model/2")
    assert (model["framework"], model["run_id"]) == ("MLflow", made["model_run"])
    manifest = client.get("/api/workspaces/local/models/story.model/2/manifest").body
    assert b"/MLmodel" in manifest

    _told(client, framework, "mlflow_further.py", tmp_path)
    seen = _SEEN.findall(client.get("/metrics").body.decode())
    asked = {f"{method} {route.removeprefix('2.0/mlflow/')}" for method, route in seen}
    asked = {call.replace(" 2.0/", " /2.0/").replace(" 3.0/", " /3.0/") for call in asked}
    assert CALLS | OF[framework] <= asked, "a client of MLflow has asked all of it, and was answered"


def _told(client: Client, framework: str, script: str, folder: Path) -> str:
    """What a script in an environment of MLflow's prints."""
    known = {name: value for name, value in os.environ.items() if not name.startswith(("MLFLOW_", "RUNYARD_"))}
    done = subprocess.run(
        [environment(framework), SUPPORT / script],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**known, "MLFLOW_TRACKING_URI": f"{client.url}/mlflow/local", **_who(client, script), "HOME": str(folder)},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def _who(client: Client, script: str) -> dict[str, str]:
    """One script has the token as such, the other one as a password."""
    token = str(client.token)
    if script == "mlflow_story.py":
        return {"MLFLOW_TRACKING_TOKEN": token}
    return {"MLFLOW_TRACKING_USERNAME": "anybody", "MLFLOW_TRACKING_PASSWORD": token}
