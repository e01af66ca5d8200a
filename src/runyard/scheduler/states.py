"""The state machine of a run: one function turns what was seen into the state that follows.

Nothing else in Runyard chooses a run's state. `decide` is pure: it is given the state that is, and a fact, and says
which state comes next and why, or that nothing changes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from runyard.contracts import states

QUEUE, HAND_OVER, PREPARING, STARTED, FINALIZING = "queue", "hand_over", "preparing", "started", "finalizing"
HEARTBEAT, SILENT, CANCEL, ENDED, LOST = "heartbeat", "silent", "cancel", "ended", "lost"

LOST_CODES = frozenset({"NodeRunnerLost", "OwnerLost"})
"""Errors that were a guess from silence. Whoever knows how the run really ended may still say so."""

_BEFORE_RUNNING = frozenset({states.NOT_STARTED, states.QUEUED, states.PREPARING, states.PROVISIONING, states.STARTING})


@dataclass(frozen=True)
class Fact:
    """Something that was seen of a run, by its node runner, its engine, its owner, or the clock."""

    kind: str
    reason: str | None = None
    outcome: str | None = None
    error: dict[str, Any] | None = None
    warnings: list[dict[str, str]] = field(default_factory=list)
    stopped: bool = False
    timed_out: bool = False
    at: datetime | None = None


@dataclass(frozen=True)
class Change:
    """The state that follows. `at` is when its cause happened, if that was told; `error` is that of a failure."""

    status: str
    reason: str
    error: dict[str, Any] | None = None
    at: datetime | None = None


def decide(status: str, error: dict[str, Any] | None, led: bool, fact: Fact) -> Change | None:
    """The change that `fact` brings to a run in `status`, or None.

    `error` is the run's error so far; `led` says that the run is led by the process that made it (interactive and
    child runs), so there is no node runner that could be asked to stop.
    """
    if status in states.TERMINAL:
        return _end(status, fact) if fact.kind == ENDED and is_guess(status, error) else None
    if fact.kind == ENDED:
        return _end(status, fact)
    if fact.kind == LOST:
        if status in (states.NOT_STARTED, states.QUEUED):
            return None  # nobody is expected to be heard yet
        if status == states.CANCEL_REQUESTED:
            return Change(states.CANCELED, fact.reason or "cancelled; the node runner is gone", at=fact.at)
        return Change(states.FAILED, fact.reason or "the node runner is gone", error=fact.error, at=fact.at)
    if fact.kind == CANCEL:
        return _cancel(status, led)
    if status == states.CANCEL_REQUESTED:
        return None  # only an end leads out
    if fact.kind == QUEUE and status == states.NOT_STARTED:
        return Change(states.QUEUED, fact.reason or "waits for a place")
    if fact.kind == HAND_OVER and status in (states.NOT_STARTED, states.QUEUED):
        return Change(states.PREPARING, fact.reason or "a node runner starts")
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


def is_guess(status: str, error: dict[str, Any] | None) -> bool:
    """Whether a run was given up because nothing was heard: the truth may still come."""
    return status == states.FAILED and (error or {}).get("code") in LOST_CODES


def _cancel(status: str, led: bool) -> Change | None:
    if status in (states.NOT_STARTED, states.QUEUED):
        return Change(states.CANCELED, "cancelled before it started")
    if led:
        return Change(states.CANCELED, "cancelled")
    if status in (states.CANCEL_REQUESTED, states.FINALIZING):
        return None  # on its way out already; the script's own end decides
    return Change(states.CANCEL_REQUESTED, "asked to stop")


def _end(status: str, fact: Fact) -> Change:
    if fact.timed_out:
        return Change(states.FAILED, _said(fact, "ran longer than it may"), fact.error, fact.at)
    lost = (fact.error or {}).get("code") in LOST_CODES
    if (status == states.CANCEL_REQUESTED and (fact.stopped or lost)) or fact.outcome == "canceled":
        return Change(states.CANCELED, fact.reason or "cancelled", at=fact.at)
    if fact.outcome == "completed" and not fact.stopped:
        return Change(states.COMPLETED, fact.reason or "completed", at=fact.at)
    return Change(states.FAILED, _said(fact, "failed"), fact.error, fact.at)


def _said(fact: Fact, otherwise: str) -> str:
    message = str((fact.error or {}).get("message") or "")
    return fact.reason or message.partition("\n")[0] or otherwise
