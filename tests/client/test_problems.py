"""What was refused, and why, survives the wire; an answer of somebody else never becomes a traceback."""

from __future__ import annotations

import json

import pytest

from runyard.client.problems import ClientProblem, Unreachable, of_document, problem


def test_a_refusal_has_the_fields_of_its_document() -> None:
    sent = {"code": "run_exists", "title": "It is there.", "help": "Take another.", "detail": {"run": "r"}}
    refusal = problem(409, json.dumps(sent).encode(), "http://host:1")
    assert (refusal.code, refusal.title, refusal.help) == ("run_exists", "It is there.", "Take another.")
    assert (refusal.status, refusal.detail) == (409, {"run": "r"})
    assert str(refusal) == "It is there. Take another."


def test_a_document_inside_of_a_response_is_a_refusal_too() -> None:
    refusal = of_document({"code": "offset_gap", "title": "No.", "detail": {"size": 3}}, 409)
    assert (refusal.code, refusal.status, refusal.detail) == ("offset_gap", 409, {"size": 3})


@pytest.mark.parametrize("more", [{}, {"help": None, "detail": None}, {"detail": "text"}, {"detail": [1]}])
def test_a_short_refusal(more: dict[str, object]) -> None:
    refusal = problem(404, json.dumps({"code": "c", "title": "No.", **more}).encode(), "http://host:1")
    assert (str(refusal), refusal.help, refusal.detail) == ("No.", "", {})


@pytest.mark.parametrize(
    "content", [b"", b"<html>", b"null", b"[]", b'"text"', b"{}", b'{"code": "c"}', b"\xff", b"x" * 10_000]
)
def test_an_answer_of_no_runyard_server(content: bytes) -> None:
    refusal = problem(502, content, "http://me:secret@host:1")
    assert refusal.code == "http_502"
    assert "HTTP status 502 and no reason that Runyard knows" in refusal.title
    assert "secret" not in str(refusal)
    assert len(str(refusal)) < 600


def test_a_client_that_is_too_old_says_how_to_upgrade_itself() -> None:
    sent = {"code": "client_too_old", "title": "Too old.", "help": "of the server"}
    assert problem(426, json.dumps(sent).encode(), "http://x").help.startswith("Upgrade Runyard where this client runs")


def test_nobody_answered() -> None:
    away = Unreachable("http://me:secret@host:1", TimeoutError(), sent=True, help="Look.")
    assert isinstance(away, ClientProblem)
    assert (away.code, away.status, away.sent) == ("server_unreachable", 0, True)
    assert "(TimeoutError). Look." in str(away)
    assert "secret" not in str(away)
