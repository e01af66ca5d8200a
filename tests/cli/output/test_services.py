"""Services in words: rows of a list, and what a followed log has gained."""

from __future__ import annotations

from typing import Any

import pytest

from runyard.cli.output.services import added, current, replicas, rows, tell_next

SERVICE: dict[str, Any] = {
    "name": "mine",
    "state": "Healthy",
    "kind": "aci",
    "revision": 2,
    "scoring_uri": "http://localhost:1/score",
    "revisions": [
        {"number": 2, "models": ["m:1"], "entry_script": None},
        {"number": 1, "models": [], "entry_script": "score.py"},
    ],
    "replicas": [{"role": "worker", "state": "ready"}, {"role": "worker", "state": "starting"}, {"role": "gateway"}],
}


def test_a_row_says_what_is_served_and_how_many_are_ready() -> None:
    assert replicas(SERVICE) == "1/2 ready"
    assert current(SERVICE)["models"] == ["m:1"]
    assert rows([SERVICE]) == [("mine", "Healthy", "aci", "2", "1/2 ready", "m:1", "http://localhost:1/score")]


def test_a_log_that_was_cut_at_its_beginning_or_is_another_one() -> None:
    assert added("one\ntwo\n", "two\nthree\n") == "three\n"
    assert added("one\n", "other\n") == "other\n"
    assert added("", "all\n") == "all\n"


def test_the_next_commands_are_some_that_can_work(capsys: pytest.CaptureFixture[str]) -> None:
    def told(**changes: Any) -> str:
        tell_next({**SERVICE, "settings": {"authentication": "key"}, **changes})
        return capsys.readouterr().out

    assert """services call mine '{"data": [[1, 2]]}'""" in told(), "a model is given rows"
    assert """services call mine '{"data": [1, 2]}'""" in told(revision=1)
    assert "services keys mine" in told()
    failed = told(state="Failed")
    assert "services logs mine" in failed
    assert "call" not in failed
