"""If these fail, a run gets another environment than it asked for, and nobody can tell why."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from tests.server.conftest import on_both_databases
from tests.support.waiting import wait_until

from runyard.contracts import curated, manifest, pack
from runyard.contracts.environment import specification_of

if TYPE_CHECKING:
    from tests.server.conftest import Client, Served

MAPS = "/api/workspaces/local/environment-maps"
MINE = {"name": "mine", "user_managed": True, "interpreter": sys.executable}


def stored(served: Served, environment: dict[str, Any], version: str | None = None, **launch: Any) -> Any:
    """A run that asks for an environment, as it is stored: nothing is built for it."""
    definition = {"environment": {"name": environment.get("name"), "version": version}}
    told = {"command": "true", "interpreter": sys.executable, "environment": environment, **launch}
    return served.stored_run(definition=definition, launch=told)


def submit(client: Client, **launch: Any) -> Any:
    """A run that is started, and what is known of it at first."""
    told = {"interpreter": sys.executable, **launch}
    run = client.ok("POST", "/api/runs", {"workspace": "local", "experiment": "trial", "launch": told})
    return client.ok("GET", f"/api/runs/{run['id']}")


def test_a_run_without_an_environment_is_as_before(served: Served) -> None:
    run = stored(served, {})
    assert (run["launch"]["environment"], run["launch"]["notes"]) == ({}, [])
    assert run["properties"] == {}


def test_what_was_asked_for_is_a_property(served: Served) -> None:
    assert stored(served, MINE)["properties"] == {"runyard.environment.asked": "mine"}
    run = stored(served, MINE, version="3", notes=["forged"])
    assert run["properties"] == {"runyard.environment.asked": "mine:3"}
    assert run["launch"]["environment"] == MINE
    assert run["launch"]["notes"] == []


def test_a_map_to_an_interpreter_replaces_the_environment(served: Served) -> None:
    served.client.ok("PUT", MAPS, {"pattern": "AzureML-*", "interpreter": sys.executable})
    asked = specification_of(_curated("AzureML-TensorFlow-2.2-GPU").definition).as_dict()
    run = stored(served, asked, version="1", interpreter="python")
    assert run["launch"]["environment"] == {
        "name": "AzureML-TensorFlow-2.2-GPU",
        "user_managed": True,
        "interpreter": sys.executable,
    }
    assert run["launch"]["interpreter"] == sys.executable
    assert run["launch"]["notes"] == [
        f"AzureML-TensorFlow-2.2-GPU is mapped to {sys.executable} by the pattern 'AzureML-*' (runyard env map)"
    ]
    assert run["properties"] == {
        "runyard.environment.asked": "AzureML-TensorFlow-2.2-GPU:1",
        "runyard.environment.mapped": f"AzureML-*: {sys.executable}",
    }
    assert run["definition"]["environment"]["version"] == "1"
    served.client.ok("DELETE", f"{MAPS}?pattern=AzureML-*")
    assert "runyard.environment.mapped" not in stored(served, asked)["properties"]


@on_both_databases
def test_a_map_to_a_definition_replaces_the_environment_and_keeps_the_name(served: Served) -> None:
    python = {"userManagedDependencies": True, "interpreterPath": sys.executable}
    served.client.ok("PUT", MAPS, {"pattern": "old-?", "definition": {"name": "new", "version": "2", "python": python}})
    run = stored(served, {"name": "old-1", "pip": ["nothing-of-the-kind"]}, interpreter="python")
    assert run["launch"]["environment"] == {**MINE, "name": "old-1"}
    assert run["launch"]["interpreter"] == sys.executable
    assert run["properties"]["runyard.environment.mapped"] == "old-?: the definition new:2"
    assert "the definition new:2 by the pattern 'old-?'" in run["launch"]["notes"][0]


def test_maps_are_those_of_the_runs_workspace(served: Served) -> None:
    client = served.client
    client.ok("POST", "/api/workspaces", {"name": "other", "subscription_id": "s", "resource_group": "g"})
    client.ok("PUT", "/api/workspaces/other/environment-maps", {"pattern": "*", "interpreter": "/nowhere"})
    assert stored(served, MINE)["launch"]["environment"] == MINE


def test_a_curated_environment_says_how_it_differs(served: Served) -> None:
    known = _curated("AzureML-PyTorch-1.6-GPU")
    asked = specification_of(known.definition).as_dict()
    assert stored(served, asked)["launch"]["notes"] == [known.note]
    assert stored(served, {**asked, "pip": ["torch==1.6.0"]})["launch"]["notes"] == []


def test_an_environment_of_the_wrong_form_is_refused(client: Client) -> None:
    wrong: list[tuple[str, Any]] = [
        *(("name", 3), ("pip", "numpy"), ("pip", [1]), ("user_managed", "yes"), ("conda", {}), ("image", ["x"]))
    ]
    for field, value in wrong:
        launch = {"command": "true", "environment": {field: value}}
        answer = client.call("POST", "/api/runs", {"workspace": "local", "experiment": "trial", "launch": launch})
        assert (answer.status, answer.code) == (422, "invalid_run"), field
        assert f"launch.environment.{field}" in answer.json["title"]


def test_a_run_sees_its_own_variables_as_they_were_given(client: Client) -> None:
    """What is veiled in the database is in clear for the script that it was meant for."""
    address = "postgresql://me:hunter2@host/db"
    command = f'test "$DATABASE" = {address} && test "$password" = x1y2z3'
    run = submit(client, command=command, environment_variables={"DATABASE": address, "password": "x1y2z3"})
    assert "hunter2" not in json.dumps(run)
    assert "x1y2z3" not in json.dumps(run["launch"]["environment_variables"])
    assert _ended(client, run["id"])["status"] == "Completed"


def test_a_run_whose_secret_is_gone_fails_with_words(client: Client) -> None:
    name = "RUNYARD_SECRET_" + "0" * 32
    environment = {**MINE, "options": [f"--index-url https://${{{name}}}@host/simple"]}
    run = submit(client, command="true", environment=environment)
    ended = _ended(client, run["id"])
    assert (ended["status"], ended["error"]["code"]) == ("Failed", "SecretMissing")
    assert name in ended["error"]["message"]


def test_a_run_fetches_the_folder_that_its_image_is_built_from(served: Served) -> None:
    client = served.client
    content = b"FROM scratch\n"
    digest = client.ok("PUT", f"/api/runs/{client.make_run()['id']}/files/a", body=content)["hash"]
    listing = manifest.make([manifest.Entry("Dockerfile", digest=digest, size=len(content))])
    client.ok("PUT", f"/api/snapshots/{listing.id}", body=listing.text)
    environment = {"name": "mine", "context": f"runyard://snapshots/{listing.id}", "context_dockerfile": "Dockerfile"}
    own = client.as_run(stored(served, environment))
    assert own.get(f"/api/snapshots/{listing.id}").body == listing.text
    fetched = own.call("POST", "/api/objects/fetch", {"hashes": [digest]})
    assert fetched.body == pack.header(digest, len(content)) + content
    assert client.as_run(client.make_run()).get(f"/api/snapshots/{listing.id}").body == listing.text
    client.ok("POST", "/api/workspaces", {"name": "other", "subscription_id": "s", "resource_group": "r"})
    other = client.as_run(client.make_run(workspace="other"))
    assert other.get(f"/api/snapshots/{listing.id}").code == "not_allowed"


def _curated(name: str) -> curated.Curated:
    found = curated.find(name)
    assert found is not None
    return found


def _ended(client: Client, run_id: str) -> Any:
    def ended() -> Any:
        run = client.ok("GET", f"/api/runs/{run_id}")
        return run if run["status"] in ("Completed", "Failed", "Canceled") else None

    return wait_until(ended, f"the end of {run_id}")
