from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest
from tests.server.conftest import on_both_databases

from runyard.contracts import curated

if TYPE_CHECKING:
    from tests.server.conftest import Client, Served

PATH = "/api/workspaces/local/environments"
FIELDS = {"name", "version", "definition", "labels", "created_at", "curated"}


def definition(name: str, *packages: str, **more: Any) -> dict[str, Any]:
    conda = {"dependencies": ["python=3.8", {"pip": list(packages)}]}
    return {"name": name, "version": None, "python": {"condaDependencies": conda}, **more}


def register(client: Client, name: str, *packages: str, **more: Any) -> Any:
    return client.ok("POST", PATH, {"definition": definition(name, *packages, **more)})


def test_the_same_content_keeps_its_version(client: Client) -> None:
    first = register(client, "mine", "numpy")
    assert set(first) == FIELDS
    assert (first["name"], first["version"], first["labels"], first["curated"]) == ("mine", "1", [], False)
    assert first["definition"]["version"] == "1"
    assert register(client, "mine", "numpy") == first
    assert register(client, "mine", "scipy")["version"] == "2"
    assert client.ok("GET", f"{PATH}/mine")["version"] == "2"
    assert client.ok("GET", f"{PATH}/mine?version=1") == first
    assert [each["version"] for each in client.ok("GET", f"{PATH}/mine/versions")["environments"]] == ["2", "1"]
    answer = client.call("POST", PATH, {"definition": definition("mine", "torch", version="1")})
    assert (answer.status, answer.code) == (409, "environment_exists")


@on_both_databases
def test_labels_point_at_versions(client: Client) -> None:
    for package in ("numpy", "scipy"):
        register(client, "mine env", package)
    path = f"{PATH}/{quote('mine env')}"
    assert client.ok("PUT", f"{path}/versions/1/labels", {"labels": ["prod"]})["labels"] == ["prod"]
    assert client.ok("GET", f"{path}?label=prod")["version"] == "1"
    client.ok("PUT", f"{path}/versions/2/labels", {"labels": ["prod"]})
    assert client.ok("GET", f"{path}?label=prod")["version"] == "2"
    assert client.get(f"{path}?label=test").code == "environment_not_found"


def test_names_of_curated_environments_are_reserved(client: Client) -> None:
    for name in ("AzureML-mine", "azureml", "MICROSOFT-x", "Microsoft"):
        answer = client.call("POST", PATH, {"definition": definition(name)})
        assert (answer.status, answer.code) == (400, "environment_reserved"), name
        answer = client.call("PUT", f"{PATH}/{name}/versions/1/labels", {"labels": ["x"]})
        assert answer.code == "environment_reserved", name


def test_a_curated_environment_is_there_without_being_registered(client: Client) -> None:
    found = client.ok("GET", f"{PATH}/AzureML-PyTorch-1.6-GPU")
    assert set(found) == FIELDS
    assert (found["name"], found["version"], found["curated"]) == ("AzureML-PyTorch-1.6-GPU", "1", True)
    assert "torch" in str(found["definition"])
    assert client.ok("GET", f"{PATH}/AzureML-PyTorch-1.6-GPU?version=44") == found
    assert client.ok("GET", f"{PATH}/AzureML-PyTorch-1.6-GPU/versions") == {"environments": [found]}


def test_an_unknown_name_is_answered_with_the_nearest(client: Client) -> None:
    answer = client.get(f"{PATH}/AzureML-Tutoriall")
    assert (answer.status, answer.code) == (404, "environment_not_found")
    assert "AzureML-Tutorial" in answer.json["help"]
    register(client, "my-environment")
    assert "my-environment" in client.get(f"{PATH}/my-enviroment").json["help"]


def test_a_list_holds_the_latest_of_each_name_and_the_curated_ones(client: Client) -> None:
    for package in ("numpy", "scipy"):
        register(client, "mine", package)
    listed = client.ok("GET", PATH)["environments"]
    assert [(each["name"], each["version"]) for each in listed if not each["curated"]] == [("mine", "2")]
    assert [each["name"] for each in listed if each["curated"]] == curated.names()


def test_what_is_no_environment_is_refused(client: Client) -> None:
    cases: list[tuple[Any, int, str]] = [
        ({"definition": {}}, 400, "bad_name"),
        ({"definition": {"name": "a/b"}}, 400, "bad_name"),
        ({"definition": {"name": "a", "python": "3.8"}}, 400, "bad_environment"),
        ({"definition": {"name": "a", "docker": {"buildContext": "here"}}}, 400, "bad_environment"),
        ({"definition": {"name": "a", "python": {"condaDependencies": {"dependencies": 3}}}}, 400, "bad_environment"),
        (
            {"definition": {"name": "a", "docker": {"buildContext": {"location": "runyard://snapshots/" + "0" * 64}}}},
            404,
            "snapshot_not_found",
        ),
        ({"definition": []}, 400, "bad_request"),
        ({}, 400, "bad_request"),
    ]
    for body, status, code in cases:
        answer = client.call("POST", PATH, body)
        assert (answer.status, answer.code) == (status, code), body
    for path in ("", "/mine", "/AzureML-Minimal", "/mine/versions"):
        answer = client.get(f"/api/workspaces/nowhere/environments{path}")
        assert (answer.status, answer.code) == (404, "workspace_not_found"), path


def every_byte(folder: Path) -> Iterator[tuple[Path, bytes]]:
    return ((path, path.read_bytes()) for path in folder.rglob("*") if path.is_file())


def test_no_secret_is_stored_shown_or_logged(
    served_on_sqlite: Served, home: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The credentials of a private index and the password of a registry, on every way in."""
    served, client = served_on_sqlite, served_on_sqlite.client
    secret, password = "hunter2-of-the-index", "hunter2-of-the-registry"
    index = f"--extra-index-url https://me:{secret}@pypi.example/simple"
    docker = {"baseImage": "private.example/x", "baseImageRegistry": {"username": "me", "password": password}}
    asked = definition("mine", index, "numpy", docker=docker)
    launch = {
        "command": f"echo https://me:{secret}@host/",
        "environment": {"name": "mine", "options": [index], "registry_password": password},
        "environment_variables": {"PIP_INDEX_URL": f"https://me:{secret}@pypi.example/simple"},
    }
    with caplog.at_level(logging.DEBUG):
        answers = [
            client.ok("POST", PATH, {"definition": asked}),
            client.ok("POST", PATH, {"definition": asked}),
            client.ok("GET", f"{PATH}/mine"),
            client.ok("PUT", "/api/workspaces/local/environment-maps", {"pattern": "a*", "definition": asked}),
            served.stored_run(definition={"environment": asked}, launch=launch),
        ]
        refused = client.call("POST", PATH, {"definition": {**asked, "version": "1", "python": {}}})
    assert answers[0] == answers[1]
    assert answers[0]["definition"]["docker"]["baseImageRegistry"]["username"] == "me"
    assert refused.code == "environment_exists"
    shown = json.dumps(answers) + refused.body.decode() + caplog.text
    stored = [content for path, content in every_byte(home) if path.name.startswith("runyard.db")]
    assert stored
    for each in (secret, password):
        assert each not in shown
        assert not any(each.encode() in content for content in stored)
        kept = [path for path, content in every_byte(home / "secrets") if each.encode() in content]
        assert [path.stat().st_mode & 0o777 for path in kept] == [0o600]
