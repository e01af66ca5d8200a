"""Services in words: rows of a list, and what a followed log has gained."""

from __future__ import annotations

from typing import Any

from runyard.cli.output.services import added, current, replicas, rows

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
