"""What MLflow's own clients do against the server: the current one, and that of the year before."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from tests.server.conftest import Served
from tests.support.frameworks import environment

from runyard.contracts.states import CANCELED, COMPLETED

STORY = Path(__file__).resolve().parents[2] / "support" / "mlflow_story.py"


@pytest.mark.parametrize("framework", ["mlflow", "mlflow2"])
def test_a_user_of_mlflow_finds_all_that_its_client_can_do(served: Served, framework: str, tmp_path: Path) -> None:
    client = served.client
    known = {name: value for name, value in os.environ.items() if not name.startswith(("MLFLOW_", "RUNYARD_"))}
    done = subprocess.run(
        [environment(framework), STORY],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={
            **known,
            "MLFLOW_TRACKING_URI": f"{client.url}/mlflow/local",
            "MLFLOW_TRACKING_TOKEN": str(client.token),
            "HOME": str(tmp_path),
        },
    )
    assert done.returncode == 0, done.stderr
    made = json.loads(done.stdout.splitlines()[-1])

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
