"""What a run does, in words: whoever opens its page reads first why it waits, what it does, or what ended it."""

from __future__ import annotations

from typing import Any

import pytest

from runyard.contracts import states
from runyard.server.responses.account import account, timeline


def told(status: str, **more: Any) -> Any:
    usual: dict[str, Any] = {
        "id": "r_1",
        "target": "gpu",
        "reason": None,
        "attempt": 1,
        "warnings": [],
        "error": None,
        "launch": {},
    }
    return account({**usual, "status": status, "states": [], **more})


@pytest.mark.parametrize("status", sorted(states.ALL))
def test_every_state_has_words(status: str) -> None:
    found = told(status)
    assert found["headline"]
    assert found["tone"] in ("good", "bad", "busy", "waiting", "still")


def test_a_run_that_waits_says_for_what_and_what_can_be_done() -> None:
    found = told(states.QUEUED, reason="waits for 2 of 4 nodes: r_0 has them")
    assert found["text"] == "Waits for 2 of 4 nodes: r_0 has them."
    assert [step["command"] for step in found["next"]] == ["runyard compute", "runyard stop r_1"]
    assert told(states.QUEUED)["text"] == "It waits for a place on gpu."


def test_a_run_that_failed_says_what_where_and_the_next_step() -> None:
    frames = [{"file": "train.py", "line": 8, "function": "main", "code": "1 / 0"}]
    error = {
        "message": "train.py failed with exit code 1",
        "exception": {"type": "ZeroDivisionError", "message": "division by zero\nand more", "frames": frames},
        "exit": {"words": "exit code 1"},
        "help": "Look at line 8.",
    }
    found = told(states.FAILED, error=error)
    assert found["headline"] == "Failed: ZeroDivisionError: division by zero"
    assert found["text"] == "and more\ntrain.py failed with exit code 1"
    assert (found["frames"], found["help"]) == (frames, "Look at line 8.")
    assert found["next"][0]["command"] == "runyard rerun r_1"
    killed = told(states.FAILED, error={"message": "The run was killed", "exit": {"words": "killed for memory"}})
    assert (killed["headline"], killed["text"]) == ("Failed: The run was killed", "killed for memory")
    assert told(states.FAILED, launch=None)["next"] == [], "what a process of the user's led cannot be repeated"


def test_the_timeline_tells_when_each_state_ended_and_of_which_attempt_it_is() -> None:
    names = [states.QUEUED, states.STARTING, states.RUNNING, states.QUEUED, states.RUNNING, states.FAILED]
    changes = [{"status": name, "at": str(at), "reason": None} for at, name in enumerate(names)]
    shown = timeline(changes, attempt=2)
    assert [each["until"] for each in shown] == ["1", "2", "3", "4", "5", None]
    assert [each["attempt"] for each in shown] == [1, 1, 1, 2, 2, 2]
    assert {each["attempt"] for each in timeline(changes, attempt=1)} == {1}
