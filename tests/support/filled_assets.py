"""What runs are given and leave, for the pages that show it: a sweep, a model, a service, data, an environment."""

from __future__ import annotations

import hashlib
import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.support.filled import EVIL
from tests.support.waiting import wait_until

from runyard.contracts import manifest, pack

if TYPE_CHECKING:
    from tests.server.conftest import Client

WS = "/api/workspaces/local"
ENDED = ("Completed", "Failed", "Canceled")

TRIAL = """
import sys
from azureml.core import Run
x, y = float(sys.argv[2]), float(sys.argv[4])
run = Run.get_context()
for step in range(20):
    run.log("acc", 1 - 1 / (1 + x * (step + 1)) - 0.01 * y, step=step)
"""

SCORE = """
import json

def init():
    print("the model is loaded")

def run(body):
    return {"sum": sum(json.loads(body)["data"])}
"""

INPUT = {
    "type": "object",
    "properties": {"data": {"type": "array", "items": {"type": "number", "example": 1.5}}},
}
DESCRIPTION = {
    "openapi": "3.0.3",
    "info": {"title": "adder", "version": "1"},
    "paths": {
        "/score": {
            "post": {
                "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Input"}}}},
                "responses": {"200": {"description": "the sum"}},
            }
        }
    },
    "components": {"schemas": {"Input": INPUT}},
}
"""What the script says of itself, in a file beside it."""


def sweep(client: Client, runs: int = 6) -> str:
    """One that has ended, of real runs."""
    command = f"{shlex.quote(sys.executable)} -c {shlex.quote(TRIAL)}"
    space = {"x": ["choice", [[0.1, 0.3, 0.9]]], "y": ["choice", [[0, 1]]]}
    asked = {
        "sampling": {"name": "GRID", "parameter_space": space},
        "metric": "acc",
        "goal": "maximize",
        "runs": runs,
        "at_once": 3,
    }
    made = client.make_run(kind="sweep", type="hyperdrive", launch={"command": command}, sweep=asked)
    path = f"/api/runs/{made['id']}"
    wait_until(lambda: client.ok("GET", path)["status"] in ENDED, "the end of the sweep")
    return str(made["id"])


def snapshot(client: Client, **files: bytes) -> str:
    """Of files by name; a double underscore in a name stands for its dot."""
    entries = []
    for name, content in files.items():
        digest = hashlib.sha256(content).hexdigest()
        entries.append(manifest.Entry(name.replace("__", "."), digest=digest, size=len(content)))
        client.ok("POST", "/api/objects", body=pack.header(digest, len(content)) + content)
    listing = manifest.make(entries)
    client.ok("PUT", f"/api/snapshots/{listing.id}", body=listing.text)
    return listing.id


def model(client: Client, name: str = "digits") -> str:
    """Two versions, the first of which is from a run."""
    run = client.make_run(experiment="mnist", display_name="the one that was registered")
    client.ok("PUT", f"/api/runs/{run['id']}/files/outputs/model.bin", body=b"weights" * 1000)
    client.end(run)
    first = {"name": name, "run_id": run["id"], "path": "outputs/model.bin", "framework": "Custom"}
    client.ok("POST", f"{WS}/models", {**first, "description": EVIL, "tags": {EVIL: EVIL, "acc": "0.97"}})
    client.ok("POST", f"{WS}/models", {"name": name, "snapshot_id": snapshot(client, model__bin=b"other weights")})
    return str(run["id"])


def service(client: Client, name: str = "adder", **settings: Any) -> None:
    """One that is up, whose script says what it takes."""
    source = snapshot(client, score__py=SCORE.encode(), swagger3__json=json.dumps(DESCRIPTION).encode())
    launch = {"snapshot_id": source, "entry_script": "score.py", "interpreter": sys.executable}
    client.ok("POST", f"{WS}/services", {"name": name, "kind": "aci", "launch": launch, "settings": settings})
    path = f"{WS}/services/{name}"
    wait_until(lambda: client.ok("GET", path)["operation"]["state"] != "Running", "the service")
    found = client.ok("GET", path)
    assert found["state"] == "Healthy", found


def data(client: Client, folder: Path) -> str:
    """A dataset of files on this machine, with two versions, and a run that reads it; the run's id."""
    for number in range(3):
        (folder / f"{number}.csv").write_text("a,b\n" * (number + 1))
    (folder / "<b>bold<b>.csv").write_text("x")
    client.ok("POST", f"{WS}/datastores", {"name": "lab", "kind": "folder", "settings": {"path": str(folder)}})
    definition: Any = {"kind": "file", "sources": [{"datastore": "lab", "path": ""}], "steps": []}
    made = client.ok("POST", f"{WS}/datasets", {"definition": definition})
    body = {"name": "numbers", "description": EVIL, "tags": {EVIL: EVIL}}
    client.ok("POST", f"{WS}/datasets/{made['id']}/registrations", body)
    run = client.make_run(display_name="reader", properties={f"runyard.dataset.{made['id']}": "numbers"})
    client.end(run)
    return str(run["id"])


def environment(client: Client) -> None:
    for pins in (["numpy==1.26"], ["numpy==1.26", "scikit-learn"]):
        dependencies = {"dependencies": ["python=3.11", {"pip": pins}]}
        definition = {"name": "training", "python": {"condaDependencies": dependencies}}
        client.ok("POST", f"{WS}/environments", {"definition": definition})
