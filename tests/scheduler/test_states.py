"""If these fail, a run could end in a state that is not true."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from runyard.contracts import states as names
from runyard.scheduler import states
from runyard.scheduler.states import Attempt, Change, Fact, decide

KINDS = [
    *(states.QUEUE, states.AWAY, states.BACK, states.HAND_OVER, states.WAITS, states.PLACED),
    *(states.PREPARING, states.STARTED, states.FINALIZING, states.ENDED),
    *(states.HEARTBEAT, states.SILENT, states.LOST, states.CANCEL, states.PREEMPT, states.TAKEN, states.DECLARED),
]
GUESS = {"code": "NodeRunnerLost", "message": "?"}
NODE_LOST = {"code": "NodeLost", "message": "Node 1 was lost.\nMore of it."}


def after(status: str, *facts: Fact, led: bool = False, attempt: Attempt = states.FIRST) -> str:
    error = None
    for fact in facts:
        change = decide(status, error, led, fact, attempt)
        if change is not None:
            status, error = change.status, change.error or (None if change.status in names.TERMINAL else error)
            attempt = replace(attempt, restart=change.restart or attempt.restart)
    return status


def ended(outcome: str = "completed", **more: bool) -> Fact:
    return Fact(states.ENDED, outcome=outcome, **more)  # type: ignore[arg-type]


def test_the_life_of_a_good_run_is_the_documented_one() -> None:
    steps = [Fact(kind) for kind in (states.QUEUE, states.PLACED, states.STARTED, states.FINALIZING)] + [ended()]
    seen, status = [], names.NOT_STARTED
    for fact in steps:
        change = decide(status, None, False, fact)
        assert change is not None
        status = change.status
        seen.append(status)
    assert seen == ["Queued", "Preparing", "Running", "Finalizing", "Completed"]


def test_a_run_in_the_queue_of_a_cluster_is_provisioning() -> None:
    handed = Fact(states.HAND_OVER)
    assert after(names.QUEUED, handed) == "Provisioning"
    assert after(names.QUEUED, handed, Fact(states.WAITS, reason="Priority")) == "Provisioning"
    assert after(names.QUEUED, handed, Fact(states.PLACED)) == "Preparing"
    assert after(names.QUEUED, handed, Fact(states.PLACED), Fact(states.WAITS, reason="late")) == "Preparing"
    assert after(names.QUEUED, Fact(states.PLACED), handed) == "Preparing"
    assert after(names.QUEUED, handed, Fact(states.CANCEL)) == "CancelRequested"


def test_a_run_of_which_nothing_has_begun_goes_back_to_its_queue() -> None:
    back = Fact(states.BACK, reason="it could not be started")
    assert after(names.QUEUED, Fact(states.PLACED), back) == "Queued"
    assert after(names.QUEUED, Fact(states.PLACED), back, Fact(states.PLACED), Fact(states.STARTED)) == "Running"
    assert after(names.QUEUED, Fact(states.PLACED), Fact(states.CANCEL), back) == "CancelRequested"
    assert after(names.QUEUED, Fact(states.PLACED), Fact(states.STARTED), back) == "Running"


def test_a_cluster_that_does_not_answer_is_waited_for() -> None:
    change = decide(names.NOT_STARTED, None, False, Fact(states.AWAY, reason="no answer"))
    assert change == Change(names.QUEUED, "no answer")
    assert after(names.RUNNING, Fact(states.AWAY)) == "Running"


PREEMPT, STOPPED = Fact(states.PREEMPT), Fact(states.ENDED, outcome="failed", stopped=True)


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ((PREEMPT,), "Running"),
        ((PREEMPT, STOPPED), "Queued"),
        ((PREEMPT, ended("completed", stopped=True)), "Queued"),  # it saved what it had, and left with exit code 0
        ((PREEMPT, ended("completed")), "Completed"),
        ((PREEMPT, ended("failed")), "Failed"),  # by itself: it would fail again
        ((PREEMPT, ended("failed", timed_out=True, stopped=True)), "Failed"),
        ((PREEMPT, Fact(states.LOST, error=GUESS)), "Queued"),
        ((PREEMPT, Fact(states.LOST, error=GUESS, final=True)), "Failed"),
        ((PREEMPT, Fact(states.ENDED, outcome="failed", error=GUESS)), "Queued"),
        ((PREEMPT, Fact(states.CANCEL), STOPPED), "Canceled"),
        ((PREEMPT, STOPPED, Fact(states.CANCEL)), "Canceled"),
        ((PREEMPT, STOPPED, STOPPED), "Queued"),  # told twice
        ((PREEMPT, STOPPED, Fact(states.FINALIZING), Fact(states.STARTED), Fact(states.HEARTBEAT)), "Queued"),
        ((PREEMPT, Fact(states.LOST, error=GUESS), ended("completed")), "Completed"),  # the guess was wrong
        ((PREEMPT, STOPPED, Fact(states.ENDED, outcome="failed", error=GUESS, final=True)), "Failed"),
        ((Fact(states.TAKEN), Fact(states.LOST, error=GUESS)), "Queued"),
        ((Fact(states.CANCEL), Fact(states.TAKEN), Fact(states.LOST, error=GUESS)), "Canceled"),
        ((Fact(states.FINALIZING), PREEMPT, ended("completed")), "Completed"),
        ((Fact(states.FINALIZING), Fact(states.TAKEN), Fact(states.LOST, error=GUESS)), "Queued"),
        ((Fact(states.ENDED, outcome="failed", error=NODE_LOST),), "Failed"),  # not of low priority
    ],
)
def test_how_a_run_comes_to_be_started_again(facts: tuple[Fact, ...], expected: str) -> None:
    assert after(names.RUNNING, *facts, attempt=Attempt(restarts=3)) == expected


@pytest.mark.parametrize("error", [GUESS, NODE_LOST])
def test_a_lost_node_of_low_priority_is_a_reason_to_start_again(error: dict[str, str]) -> None:
    attempt = Attempt(2, restarts=3, replaceable=True)
    change = decide(names.RUNNING, None, False, Fact(states.ENDED, outcome="failed", error=error), attempt)
    assert change is not None
    assert (change.status, change.restart) == ("Queued", error["message"].partition("\n")[0].rstrip("."))
    assert change.reason.endswith("; attempt 3 follows")
    assert after(names.RUNNING, Fact(states.LOST, error=error), attempt=attempt) == "Queued"
    assert after(names.RUNNING, Fact(states.ENDED, outcome="failed", error={"code": "UserError"}), attempt=attempt) == (
        "Failed"
    )


def test_a_run_is_not_started_again_for_ever() -> None:
    change = decide(names.RUNNING, None, False, STOPPED, Attempt(4, restarts=3, restart="preempted on purpose"))
    assert change is not None
    assert change.error is not None
    assert (change.status, change.error["code"]) == ("Failed", "RestartsExhausted")
    assert "Attempt 4" in change.reason
    assert "3 restarts" in change.reason


def test_what_a_former_attempt_says_late_changes_nothing() -> None:
    second = Attempt(2, restarts=3)
    for kind in KINDS:
        assert decide(names.RUNNING, None, False, Fact(kind, outcome="completed", attempt=1), second) is None
    assert after(names.RUNNING, Fact(states.ENDED, outcome="completed", attempt=2), attempt=second) == "Completed"


@pytest.mark.parametrize("status", [names.NOT_STARTED, names.QUEUED, names.CANCEL_REQUESTED, names.FINALIZING])
def test_only_what_is_under_way_is_preempted(status: str) -> None:
    assert decide(status, None, False, PREEMPT) is None
    assert decide(names.RUNNING, None, True, PREEMPT) is None


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ((ended("failed"),), "Failed"),
        ((Fact(states.CANCEL), ended("failed", stopped=True)), "Canceled"),
        ((Fact(states.CANCEL), ended("completed", stopped=True)), "Canceled"),
        ((Fact(states.CANCEL), ended("completed")), "Completed"),
        ((Fact(states.CANCEL), ended("failed")), "Failed"),
        ((Fact(states.CANCEL), Fact(states.ENDED, outcome="failed", error=GUESS)), "Canceled"),
        ((Fact(states.FINALIZING), Fact(states.CANCEL), ended("completed")), "Completed"),
        ((ended("failed", stopped=True),), "Failed"),
        ((ended("failed", timed_out=True, stopped=True),), "Failed"),
        ((Fact(states.CANCEL), Fact(states.LOST)), "Canceled"),
        ((Fact(states.SILENT), Fact(states.HEARTBEAT)), "Running"),
        ((Fact(states.SILENT), Fact(states.FINALIZING), ended()), "Completed"),
    ],
)
def test_how_a_running_run_ends(facts: tuple[Fact, ...], expected: str) -> None:
    assert after(names.RUNNING, *facts) == expected


def test_a_run_that_has_not_started_is_cancelled_at_once() -> None:
    assert after(names.QUEUED, Fact(states.CANCEL)) == "Canceled"


def test_a_run_led_by_its_maker_is_cancelled_at_once() -> None:
    assert after(names.RUNNING, Fact(states.CANCEL), led=True) == "Canceled"


OWN_WORDS = {"code": "Diverged", "message": "no number\nat all"}


def declared(outcome: str = "failed") -> Fact:
    return Fact(states.DECLARED, outcome=outcome, error=OWN_WORDS if outcome == "failed" else None)


@pytest.mark.parametrize(
    "facts",
    [
        (ended("failed", stopped=True),),
        (ended("completed"),),
        (ended("completed", stopped=True),),
        (Fact(states.FINALIZING), ended("failed", timed_out=True)),
        (Fact(states.HEARTBEAT), Fact(states.LOST, error=GUESS)),
        (Fact(states.CANCEL), ended("failed", stopped=True)),
        (Fact(states.TAKEN), Fact(states.PREEMPT), Fact(states.LOST, error=GUESS)),
    ],
)
@pytest.mark.parametrize(("outcome", "expected"), [("failed", "Failed"), ("completed", "Completed")])
@pytest.mark.parametrize("status", [names.PROVISIONING, names.PREPARING, names.RUNNING, names.CANCEL_REQUESTED])
def test_how_a_run_ends_is_what_its_user_said(
    status: str, outcome: str, expected: str, facts: tuple[Fact, ...]
) -> None:
    """Whatever its script does once it is told to end, and wherever another attempt would have followed."""
    attempt = Attempt(restarts=3, replaceable=True)
    assert after(status, declared(outcome), attempt=attempt) == "Finalizing"
    assert after(status, declared(outcome), *facts, attempt=attempt) == expected


def test_what_its_user_said_of_a_run_is_its_error() -> None:
    first = decide(names.RUNNING, None, False, declared())
    assert first is not None
    assert first.error == {**OWN_WORDS, states.OUTCOME: "failed"}
    last = decide(first.status, first.error, False, ended("failed", stopped=True))
    assert last is not None
    assert (last.error, last.reason) == (OWN_WORDS, "no number")


@pytest.mark.parametrize("status", [names.NOT_STARTED, names.QUEUED])
def test_a_run_that_has_not_started_fails_at_once_when_its_user_says_so(status: str) -> None:
    assert after(status, declared()) == "Failed"
    assert after(names.RUNNING, declared("completed"), led=True) == "Completed"


def test_a_guess_from_silence_gives_way_to_the_truth() -> None:
    lost = Fact(states.LOST, error=GUESS)
    assert after(names.RUNNING, lost) == "Failed"
    assert after(names.RUNNING, lost, ended("completed")) == "Completed"


def test_a_run_in_the_queue_is_not_given_up_for_silence() -> None:
    assert after(names.QUEUED, Fact(states.LOST, error=GUESS)) == "Queued"


@given(
    status=st.sampled_from(sorted(names.TERMINAL)),
    kind=st.sampled_from(KINDS),
    outcome=st.sampled_from(["completed", "failed", "canceled"]),
    led=st.booleans(),
)
def test_what_has_ended_stays_ended(status: str, kind: str, outcome: str, led: bool) -> None:
    assert decide(status, {"code": "UserError"}, led, Fact(kind, outcome=outcome)) is None


@given(
    status=st.sampled_from(sorted(names.ALL - names.TERMINAL)),
    facts=st.lists(st.builds(Fact, kind=st.sampled_from(KINDS), stopped=st.booleans()), max_size=12),
    outcome=st.sampled_from(["completed", "failed", "canceled"]),
    led=st.booleans(),
    attempt=st.builds(Attempt, number=st.integers(1, 3), restarts=st.integers(0, 2), replaceable=st.booleans()),
)
@example("Provisioning", [Fact(states.PREEMPT), Fact(states.AWAY)], "failed", False, Attempt())
def test_every_run_reaches_an_end_or_another_attempt_whatever_was_seen_before(
    status: str, facts: list[Fact], outcome: str, led: bool, attempt: Attempt
) -> None:
    last = after(status, *facts, ended(outcome), led=led, attempt=attempt)
    assert last in names.TERMINAL or (last == "Queued" and attempt.number <= attempt.restarts)


@given(status=st.sampled_from(sorted(names.ALL)), kind=st.sampled_from(KINDS), led=st.booleans())
def test_every_change_has_a_reason(status: str, kind: str, led: bool) -> None:
    change = decide(status, None, led, Fact(kind))
    assert change is None or (isinstance(change, Change) and change.reason and change.status in names.ALL)
