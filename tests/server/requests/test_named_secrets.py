"""If these fail, whoever reads the name of a password can have the password."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pytest
from tests.server.conftest import on_both_databases

from runyard.contracts.environment import specification_of
from runyard.server.middleware.auth import Caller
from runyard.server.middleware.problems import Problem
from runyard.server.requests import named_secrets

if TYPE_CHECKING:
    from tests.server.conftest import Answer, Client, Served

ENVIRONMENTS = "/api/workspaces/local/environments"
INDEX = "--index-url https://me:hunter2@pypi.example/simple"


def child(client: Client, run: Mapping[str, Any], **launch: Any) -> Answer:
    """Ask for a child, with the token of the run. It is led by its maker, so that nothing is started."""
    return client.as_run(run).call("POST", "/api/runs", {"parent_id": run["id"], "kind": "child", "launch": launch})


@pytest.fixture
def secretive(served: Served) -> Any:
    """A run that was given a password."""
    run = served.stored_run(launch={"command": "true", "arguments": ["https://me:hunter2@host/"]})
    assert "hunter2" not in str(run["launch"])
    return run


@pytest.fixture
def environment(served: Served) -> dict[str, Any]:
    """What an environment with a private index and a private registry is registered as."""
    packages = {"dependencies": ["python=3.8", {"pip": [INDEX, "numpy"]}]}
    docker = {"baseImage": "private.example/x", "baseImageRegistry": {"username": "me", "password": "hunter3"}}
    definition = {"name": "mine", "python": {"condaDependencies": packages}, "docker": docker}
    stored: dict[str, Any] = served.client.ok("POST", ENVIRONMENTS, {"definition": definition})["definition"]
    assert "hunter" not in str(stored)
    return stored


@on_both_databases
def test_a_run_cannot_name_the_secret_of_another(served: Served, secretive: Any) -> None:
    client = served.client
    stranger, text = client.make_run(), secretive["launch"]["arguments"][0]
    name = text.split("@")[0].removeprefix("https://")
    for launch in (
        {"arguments": [text]},
        {"command": f"echo {name}"},
        {"environment_variables": {"X": name}},
        {"environment": {"options": [f"--index-url https://{name}@elsewhere/simple"]}},
    ):
        answer = child(client, stranger, **launch)
        assert (answer.status, answer.code) == (403, "not_allowed"), launch
        assert name.strip("${}") in answer.json["title"]
    assert client.ok("GET", f"/api/runs?parent={stranger['id']}")["runs"] == []


def test_a_run_may_name_its_own_and_so_may_the_child_that_it_leads(served: Served, secretive: Any) -> None:
    launch = {"arguments": secretive["launch"]["arguments"], "command": "true"}
    answer = child(served.client, secretive, **launch)
    assert answer.status == 201, answer.body
    assert child(served.client, answer.json, **launch).status == 201


def test_the_user_may_name_all(served: Served, secretive: Any) -> None:
    run = served.client.make_run()
    asked = {"parent_id": run["id"], "kind": "child", "launch": {"arguments": secretive["launch"]["arguments"]}}
    assert served.client.ok("POST", "/api/runs", asked)["id"]


def test_what_a_request_brings_itself_is_its_own(served: Served, secretive: Any) -> None:
    answer = child(served.client, served.client.make_run(), arguments=["https://me:hunter2@host/"])
    assert answer.status == 201, answer.body


def test_an_environment_of_the_workspace_may_be_used_as_it_is(served: Served, environment: dict[str, Any]) -> None:
    client = served.client
    run = client.make_run()
    specification = specification_of(environment).as_dict()
    more = {**specification, "pip": [*specification["pip"], "scipy"]}
    for used in (specification, more):
        answer = child(client, run, command="true", environment=used)
        assert answer.status == 201, answer.body
    line = specification["options"][0]
    for other in (
        {**specification, "options": [line.replace("pypi.example", "elsewhere")]},
        {**specification, "registry": "elsewhere"},
        {**specification, "image": "elsewhere/x"},
        {**specification, "options": [], "registry_password": line.split("//")[1].split("@")[0]},
    ):
        assert child(client, run, command="true", environment=other).code == "not_allowed", other
    assert child(client, run, arguments=[specification["registry_password"]]).code == "not_allowed"


def test_an_environment_of_another_workspace_may_not(served: Served, environment: dict[str, Any]) -> None:
    client = served.client
    client.ok("POST", "/api/workspaces", {"name": "other", "subscription_id": "s", "resource_group": "g"})
    run = client.make_run(workspace="other")
    answer = child(client, run, command="true", environment=specification_of(environment).as_dict())
    assert answer.code == "not_allowed"


def test_a_definition_is_judged_like_a_launch(served: Served, environment: dict[str, Any]) -> None:
    context, run = served.app.state.context, Caller(served.client.make_run()["id"])
    named_secrets.check_definition(context, run, {**environment, "name": "copy"})
    named_secrets.check_definition(context, run, {"name": "plain"})
    docker = environment["docker"]
    elsewhere = {**docker, "baseImageRegistry": {**docker["baseImageRegistry"], "address": "elsewhere"}}
    changed = {**environment, "docker": elsewhere}
    with pytest.raises(Problem, match="may not use the secret"):
        named_secrets.check_definition(context, run, changed)
    named_secrets.check_definition(context, Caller(), changed)
