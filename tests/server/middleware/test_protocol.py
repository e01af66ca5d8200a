from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from tests.server.conftest import on_both_databases

from runyard import __version__
from runyard.contracts import PROTOCOL

if TYPE_CHECKING:
    from tests.server.conftest import Client


def test_every_answer_tells_the_version(client: Client) -> None:
    for path in ("/health", "/api/workspaces", "/api/nothing"):
        assert client.get(path).headers["x-runyard-version"] == __version__


def test_a_newer_client_is_told_to_restart_the_server(client: Client) -> None:
    answer = client.get("/api/workspaces", X_Runyard_Protocol=str(PROTOCOL + 1), X_Runyard_Version="99.1")
    assert (answer.status, answer.code) == (426, "client_too_new")
    assert "99.1" in answer.json["title"]
    assert __version__ in answer.json["title"]
    assert "runyard down" in answer.json["help"]
    assert sys.prefix not in answer.body.decode(), "a stranger hears of no folder"


def test_an_older_client_is_told_to_upgrade(client: Client) -> None:
    answer = client.get("/api/workspaces", X_Runyard_Protocol="0", X_Runyard_Version="0.0.1")
    assert (answer.status, answer.code) == (426, "client_too_old")
    assert "0.0.1" in answer.json["title"]
    assert "runyard doctor" in answer.json["help"]
    assert sys.prefix not in answer.body.decode(), "a stranger hears of no folder"


def test_current_and_silent_clients_are_answered(client: Client) -> None:
    assert client.get("/api/workspaces", X_Runyard_Protocol=str(PROTOCOL)).status == 200
    assert client.get("/api/workspaces").status == 200


def test_a_protocol_that_is_no_number_is_refused(client: Client) -> None:
    assert client.get("/api/workspaces", X_Runyard_Protocol="one").code == "bad_request"


def test_health_is_answered_whatever_the_client_speaks(client: Client) -> None:
    assert client.get("/health", X_Runyard_Protocol=str(PROTOCOL + 1)).status == 200


@on_both_databases
def test_an_address_with_a_nul_is_refused_before_it_reaches_a_database(client: Client) -> None:
    assert client.get("/api/runs/a%00b").code == "bad_request"
    assert client.get("/api/runs?workspace=a%00b").code == "bad_request"
