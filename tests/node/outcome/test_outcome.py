"""The fact that a run ended with: what its user reads, and what the server decides its state by."""

from __future__ import annotations

from typing import Any

from runyard.contracts.distribution import Distribution, Rank
from runyard.contracts.plan import Launch, Plan
from runyard.node.outcome import outcome
from runyard.node.outcome.exits import Exit
from runyard.node.state import CANCELLED, OVERDUE

TERM = Exit(None, 15)


def plan(distribution: Distribution = Distribution(), **launch: Any) -> Plan:  # noqa: B008 - frozen
    launch.setdefault("script", "train.py")
    return Plan(
        *("r1", "r1", "e", "e1", "w", "s", "g", "local", "t", "http://127.0.0.1:1"),
        launch=Launch(distribution=distribution.as_dict(), **launch),
    )


def test_a_script_that_ended_by_itself() -> None:
    well = outcome.of_exit(plan(), Exit(0, None), None, None)
    assert (well["fact"], well["outcome"]) == ("ended", "completed")
    assert "error" not in well
    error = {"code": "UserError", "message": "x"}
    badly = outcome.of_exit(plan(), Exit(1, None), None, error)
    assert (badly["outcome"], badly["error"]) == ("failed", error)


def test_a_script_that_was_cancelled_did_not_fail_by_itself() -> None:
    fact = outcome.of_exit(plan(), TERM, CANCELLED, {"code": "UserError"})
    assert fact["stopped"]
    assert fact["error"]["code"] == "Canceled"
    assert fact["error"]["message"] == "train.py: ended by SIGTERM because the run was cancelled."
    assert outcome.of_exit(plan(), Exit(0, None), CANCELLED, None)["outcome"] == "completed"


def test_a_run_whose_time_was_up_names_the_limit() -> None:
    fact = outcome.of_exit(plan(script="", command="sleep 9", max_run_duration_seconds=3), TERM, OVERDUE, None)
    assert fact["timed_out"]
    assert fact["error"]["message"] == "The command ran longer than max_run_duration_seconds (3 s) and was ended."
    assert fact["error"]["exit"]["words"] == "ended by SIGTERM because its time was up"


def test_a_gang_whose_time_was_up_names_who_was_not_done() -> None:
    many = plan(Distribution(nodes=2, processes=20), max_run_duration_seconds=3)
    late = [Rank(number, 0, number) for number in range(10)]
    message = outcome.of_gang(many, OVERDUE, None, False, late)["error"]["message"]
    assert "Not done by then: rank 0 (node 0), rank 1 (node 0)" in message
    assert message.endswith(" and 2 more.")


def test_a_gang_that_was_cancelled_is_counted() -> None:
    fact = outcome.of_gang(plan(Distribution(nodes=2, processes=4)), CANCELLED, {"code": "UserError"}, False)
    assert fact["stopped"]
    assert "its 4 processes on 2 nodes were ended" in fact["error"]["message"]


def test_the_first_failure_is_the_gangs() -> None:
    gang = plan(Distribution(processes=2))
    assert outcome.of_gang(gang, None, {"code": "NodeLost"}, False)["error"] == {"code": "NodeLost"}
    assert outcome.of_gang(gang, None, None, True)["outcome"] == "completed"


def test_a_stop_before_the_start() -> None:
    fact = outcome.before_start()
    assert (fact["outcome"], fact["stopped"], fact["error"]["code"]) == ("failed", True, "Canceled")
