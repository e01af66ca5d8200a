"""The JSON of a service: an address that can be called, the revision that serves, replicas that are there."""

from __future__ import annotations

import socket
from dataclasses import replace
from typing import Any

import pytest
from tests.scheduler.services.test_decision import replica, revision, service, version

from runyard.contracts.services import states
from runyard.contracts.services.settings import Settings
from runyard.server.responses import services


@pytest.mark.parametrize(
    ("host", "shown"),
    [
        ("127.0.0.1", "localhost"),
        ("::1", "localhost"),
        ("10.0.0.7", "10.0.0.7"),
        ("fd00::7", "[fd00::7]"),
        ("0.0.0.0", socket.gethostname()),
        ("::", socket.gethostname()),
    ],
)
def test_an_address_that_others_can_use(host: str, shown: str) -> None:
    row = replace(service(version(1, 1)), settings=Settings(host=host), port=4000)
    assert services.base_address(row) == f"http://{shown}:4000"
    document = services.service(row, [], [])
    assert (document["scoring_uri"], document["swagger_uri"]) == (
        f"http://{shown}:4000/score",
        f"http://{shown}:4000/swagger.json",
    )


def test_the_revision_that_is_shown_is_the_one_that_answers() -> None:
    launch: dict[str, Any] = {"entry_script": "a.py", "environment": {"name": "mine"}, "definition": {"name": "mine"}}
    known = [revision(2), replace(revision(1), launch=launch, models=[{"id": "m:3"}])]
    updating = services.service(service(version(1, 2)), known, [])
    assert (updating["revision"], updating["definition"], updating["versions"]) == (1, {"name": "mine"}, [])
    shown = updating["revisions"][1]
    assert (shown["number"], shown["models"], shown["environment"]) == (1, ["m:3"], "mine")
    assert "version_name" not in shown
    first = services.service(service(version(None, 2)), known, [])
    assert (first["revision"], first["definition"]) == (2, None), "nothing serves yet: what is to serve"


def test_versions_of_an_endpoint_are_told_apart() -> None:
    endpoint = service(
        version(1, 1, name="blue", default=False, traffic=30.0), version(2, 3, 2, "green"), kind=states.ENDPOINT
    )
    document = services.service(endpoint, [revision(3, "green"), revision(1, "blue"), revision(4, "gone")], [])
    assert document["revision"] == 2, "that of the default version"
    assert [(each["name"], each["traffic"], each["default"]) for each in document["versions"]] == [
        ("blue", 30.0, False),
        ("green", 100.0, True),
    ]
    assert [each["version_name"] for each in document["revisions"]] == ["green", "blue", "gone"]
    assert "traffic" not in document["revisions"][2], "a version that was removed has none"


def test_replicas_that_are_over_are_left_out_and_keys_are_never_shown() -> None:
    row = replace(service(version(1, 1)), keys={"primary": "name-of-a-secret"})
    seen = {"pid": 7, "restarts": 2, "error": {"message": "no"}}
    document = services.service(row, [], [replica(1, states.GONE, "Failed"), replica(1, states.SICK, seen=seen)])
    (shown,) = document["replicas"]
    assert (shown["state"], shown["pid"], shown["restarts"], shown["error"]) == ("unhealthy", 7, 2, {"message": "no"})
    assert "name-of-a-secret" not in str(document)
