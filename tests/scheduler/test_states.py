"""If these fail, a run could end in a state that is not true."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runyard.contracts import states as names
from runyard.scheduler import states
from runyard.scheduler.states import Change, Fact, decide

KINDS = [
    states.QUEUE,
    states.HAND_OVER,
    states.PREPARING,
    states.STARTED,
    states.FINALIZING,
    states.HEARTBEAT,
    states.SILENT,
    states.CANCEL,
    states.ENDED,
    states.LOST,
]
GUESS = {"code": "NodeRunnerLost", "message": "?"}


def after(status: str, *facts: Fact, led: bool = False) -> str:
    error = None
    for fact in facts:
        change = decide(status, error, led, fact)
        if change is not None:
            status, error = change.status, change.error
    return status


def ended(outcome: str = "completed", **more: bool) -> Fact:
    return Fact(states.ENDED, outcome=outcome, **more)  # type: ignore[arg-type]


def test_the_life_of_a_good_run_is_the_documented_one() -> None:
    steps = [Fact(kind) for kind in (states.QUEUE, states.HAND_OVER, states.STARTED, states.FINALIZING)] + [ended()]
    seen, status = [], names.NOT_STARTED
    for fact in steps:
        change = decide(status, None, False, fact)
        assert change is not None
        status = change.status
        seen.append(status)
    assert seen == ["Queued", "Preparing", "Running", "Finalizing", "Completed"]


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
)
def test_every_run_reaches_an_end_whatever_was_seen_before(
    status: str, facts: list[Fact], outcome: str, led: bool
) -> None:
    assert after(status, *facts, ended(outcome), led=led) in names.TERMINAL


@given(status=st.sampled_from(sorted(names.ALL)), kind=st.sampled_from(KINDS), led=st.booleans())
def test_every_change_has_a_reason(status: str, kind: str, led: bool) -> None:
    change = decide(status, None, led, Fact(kind))
    assert change is None or (isinstance(change, Change) and change.reason and change.status in names.ALL)
