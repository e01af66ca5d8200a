"""The state machine of a run: one function turns what was seen into the state that follows.

Nothing else in Runyard chooses a run's state. `decide` is pure: it takes the present state and a fact, and returns
the state that comes next and why, or that nothing changes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from runyard.contracts import states

QUEUE, AWAY, BACK, HAND_OVER, WAITS, PLACED = "queue", "away", "back", "hand_over", "waits", "placed"
PREPARING, STARTED, FINALIZING, ENDED = "preparing", "started", "finalizing", "ended"
HEARTBEAT, SILENT, LOST, CANCEL, PREEMPT, TAKEN = "heartbeat", "silent", "lost", "cancel", "preempt", "taken"
DECLARED = "declared"
EXTENDED = "extended"  # a sweep may have more children
SERVES = "service"  # how a replica of a service stands; its run goes on as it was

LOST_CODES = frozenset({"NodeRunnerLost", "OwnerLost"})
"""Errors that were a guess from silence. Whoever knows how the run really ended may still report it."""

REPLACED_CODES = frozenset({"NodeRunnerLost", "NodeLost"})
"""Errors after which a run starts again by itself, where nodes may be taken away at any time."""

ASKED = "asked to stop"

OUTCOME = "declared_outcome"
"""The key in the error of a run under way for the end that its user has declared, until it has ended."""

_BY_OUTCOME = {"completed": states.COMPLETED, "failed": states.FAILED}

_WAITING = frozenset({states.NOT_STARTED, states.QUEUED, states.PROVISIONING})
_BEFORE_RUNNING = _WAITING | {states.PREPARING, states.STARTING}


@dataclass(frozen=True)
class Fact:
    """Something that was seen of a run, by its node runner, its engine, its owner, or the clock.

    `attempt` is the one that it was seen of, where that is known. `final`: the run cannot start again.
    """

    kind: str
    reason: str | None = None
    outcome: str | None = None
    error: dict[str, Any] | None = None
    warnings: list[dict[str, str]] = field(default_factory=list)
    stopped: bool = False
    timed_out: bool = False
    at: datetime | None = None
    attempt: int | None = None
    final: bool = False
    service: dict[str, Any] | None = None

    @property
    def completed(self) -> bool:
        return self.outcome == "completed" and not self.stopped and not self.timed_out


@dataclass(frozen=True)
class Attempt:
    """Which attempt of a run is under way, and whether another one may follow it."""

    number: int = 1
    restarts: int = 0  # how many may follow the first one
    restart: str | None = None  # why another one is wanted
    replaceable: bool = False  # its nodes may be taken away at any time, and a lost one is no fault


@dataclass(frozen=True)
class Change:
    """The state that follows. `at` is when its cause happened, if that is known; `error` is that of a failure;
    `restart` is why the attempt under way is to be followed by another one, if that is new."""

    status: str
    reason: str
    error: dict[str, Any] | None = None
    at: datetime | None = None
    restart: str | None = None


FIRST = Attempt()


def decide(status: str, error: dict[str, Any] | None, led: bool, fact: Fact, attempt: Attempt = FIRST) -> Change | None:
    """The change that `fact` brings to a run in `status`, or None.

    `error` is the run's error so far; `led`: the run is led by the process that made it (interactive and child
    runs), so there is no node runner that could be asked to stop.
    """
    if fact.attempt is not None and fact.attempt != attempt.number:
        return None  # reported late: another attempt is under way
    if fact.kind == SERVES:
        return None
    if fact.kind == EXTENDED:
        return Change(states.RUNNING, fact.reason or "goes on") if status in states.TERMINAL else None
    if status in states.TERMINAL:
        return _end(status, fact, attempt) if fact.kind == ENDED and is_guess(status, error) else None
    if fact.kind == DECLARED:
        return _declare(status, led, fact)
    if fact.kind in (ENDED, LOST) and is_declared(error):
        return _declared_end(error or {}, fact)
    if fact.kind == CANCEL:
        return _cancel(status, led, fact)
    if status == states.QUEUED and attempt.restart is not None:
        # Its end was reported or guessed. A report that it was a good one still counts.
        return _end(status, fact, attempt) if fact.kind == ENDED and (fact.completed or fact.final) else None
    if fact.kind == ENDED:
        return _end(status, fact, attempt)
    if fact.kind == LOST:
        return _lost(status, fact, attempt)
    if status == states.CANCEL_REQUESTED:
        return None  # only an end leads out
    if fact.kind in (PREEMPT, TAKEN):
        return None if is_declared(error) else _start_again(status, led, fact, attempt)
    if fact.kind in (AWAY, BACK) and attempt.restart is not None:
        return None  # in Queued it would be taken for over, before its end is known
    return _go_on(status, fact)


def is_guess(status: str, error: dict[str, Any] | None) -> bool:
    """Whether a run was given up because of silence: the truth may still come."""
    return status == states.FAILED and (error or {}).get("code") in LOST_CODES


def is_declared(error: dict[str, Any] | None) -> bool:
    """Whether a run under way is being ended because its user has declared its end."""
    return OUTCOME in (error or {})


def _declare(status: str, led: bool, fact: Fact) -> Change:
    """A run whose script may be alive is ended first: until then, the declared end is part of its error."""
    outcome = "completed" if fact.outcome == "completed" else "failed"
    if led or status in (states.NOT_STARTED, states.QUEUED):
        return Change(_BY_OUTCOME[outcome], _message(fact, outcome), fact.error, fact.at)
    error = {**(fact.error or {"code": outcome, "message": f"The run was marked as {outcome}."}), OUTCOME: outcome}
    return Change(states.FINALIZING, f"marked as {outcome}; its script is being ended", error)


def _declared_end(declared: dict[str, Any], fact: Fact) -> Change:
    status = _BY_OUTCOME[declared[OUTCOME]]
    error = {key: value for key, value in declared.items() if key != OUTCOME}
    reason = str(error.get("message") or declared[OUTCOME]).partition("\n")[0]
    return Change(status, reason, error if status == states.FAILED else None, fact.at)


def _go_on(status: str, fact: Fact) -> Change | None:
    """What follows as long as all is well."""
    if fact.kind == QUEUE and status == states.NOT_STARTED:
        return Change(states.QUEUED, fact.reason or "waits for a place")
    if fact.kind == AWAY and status in _WAITING:
        return Change(states.QUEUED, fact.reason or "waits for its compute target to answer")
    if fact.kind == BACK and status in (*_WAITING, states.PREPARING):
        return Change(states.QUEUED, fact.reason or "could not be started yet")
    if fact.kind == WAITS and status in _WAITING and fact.reason:
        return Change(states.PROVISIONING, fact.reason)
    if fact.kind == HAND_OVER and status in (states.NOT_STARTED, states.QUEUED):
        return Change(states.PROVISIONING, fact.reason or "handed over to its compute target")
    if fact.kind == PLACED and status in _WAITING:
        return Change(states.PREPARING, fact.reason or "its node runners start")
    if fact.kind == PREPARING and status in _BEFORE_RUNNING and fact.reason:
        return Change(states.PREPARING, fact.reason)
    if fact.kind == STARTED and status in _BEFORE_RUNNING:
        return Change(states.RUNNING, fact.reason or "the script has started", at=fact.at)
    if fact.kind == FINALIZING and status != states.FINALIZING:
        return Change(states.FINALIZING, fact.reason or "the script has ended; its outputs are being stored")
    if fact.kind == SILENT and status == states.RUNNING:
        return Change(states.NOT_RESPONDING, fact.reason or "nothing was heard from the run")
    if fact.kind == HEARTBEAT and status == states.NOT_RESPONDING:
        return Change(states.RUNNING, "heard from the run again")
    return None


def _cancel(status: str, led: bool, fact: Fact) -> Change | None:
    if status in (states.NOT_STARTED, states.QUEUED):
        return Change(states.CANCELED, fact.reason or "cancelled before it started")
    if led:
        return Change(states.CANCELED, fact.reason or "cancelled")
    if status in (states.CANCEL_REQUESTED, states.FINALIZING):
        return None  # on its way out already; the script's own end decides
    return Change(states.CANCEL_REQUESTED, fact.reason or ASKED)


def reason_of(change: Change, before: str, reason: str | None) -> str:
    """The reason of a change. A run that was asked to stop for a reason has ended for that reason."""
    kept = change.status == states.CANCELED and before == states.CANCEL_REQUESTED and reason not in (None, ASKED)
    return str(reason) if kept else change.reason


def _start_again(status: str, led: bool, fact: Fact, attempt: Attempt) -> Change | None:
    """Another attempt is wanted; the state stays until this one has ended."""
    ending = status == states.FINALIZING and fact.kind == PREEMPT  # the script has ended: nothing is left to restart
    if led or ending or status in (states.NOT_STARTED, states.QUEUED) or attempt.restart is not None:
        return None
    why = fact.reason or ("preempted on purpose" if fact.kind == PREEMPT else "its nodes were taken away")
    return Change(status, f"{why}; the attempt is being ended", restart=why)


def _lost(status: str, fact: Fact, attempt: Attempt) -> Change | None:
    if status in (states.NOT_STARTED, states.QUEUED):
        return None  # no heartbeat is expected yet
    if status == states.CANCEL_REQUESTED:
        return Change(states.CANCELED, fact.reason or "cancelled; the node runner is gone", at=fact.at)
    if (attempt.restart is not None or attempt.replaceable) and not fact.final:
        return _next_attempt(fact, attempt)
    return Change(states.FAILED, fact.reason or "the node runner is gone", error=fact.error, at=fact.at)


def _end(status: str, fact: Fact, attempt: Attempt) -> Change:
    if fact.timed_out:
        return Change(states.FAILED, _message(fact, "ran longer than it may"), fact.error, fact.at)
    code = (fact.error or {}).get("code")
    if (status == states.CANCEL_REQUESTED and (fact.stopped or code in LOST_CODES)) or fact.outcome == "canceled":
        return Change(states.CANCELED, fact.reason or "cancelled", at=fact.at)
    if fact.completed:
        return Change(states.COMPLETED, fact.reason or "completed", at=fact.at)
    wanted = attempt.restart is not None and (fact.stopped or code in REPLACED_CODES)
    replaced = attempt.replaceable and code in REPLACED_CODES
    if (wanted or replaced) and status not in (*states.TERMINAL, states.CANCEL_REQUESTED) and not fact.final:
        return _next_attempt(fact, attempt)
    return Change(states.FAILED, _message(fact, "failed"), fact.error, fact.at)


def _next_attempt(fact: Fact, attempt: Attempt) -> Change:
    why = attempt.restart or _message(fact, "a node was lost").rstrip(".")
    if attempt.number <= attempt.restarts:
        return Change(states.QUEUED, f"{why}; attempt {attempt.number + 1} follows", at=fact.at, restart=why)
    message = (
        f"Attempt {attempt.number} of this run had to end ({why}), and the run may not start again: "
        f"it was allowed {attempt.restarts} restarts."
    )
    help = "Submit it again, with more restarts if its nodes are often taken away. What it wrote until then is kept."
    return Change(states.FAILED, message, {"code": "RestartsExhausted", "message": message, "help": help}, fact.at)


def _message(fact: Fact, otherwise: str) -> str:
    message = str((fact.error or {}).get("message") or "")
    return fact.reason or message.partition("\n")[0] or otherwise
