"""Facts as reporters send them: their form, and what of it is passed on to the scheduler."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from typing import Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, JsonValue

from runyard.scheduler.states import Fact
from runyard.server.requests import run as run_request


class FactReport(BaseModel):
    """What the reporter of a run saw. Only `ended` and `service` carry more than a reason."""

    model_config = ConfigDict(extra="forbid")

    fact: Literal["preparing", "started", "finalizing", "heartbeat", "ended", "service"]
    reason: str | None = None
    outcome: Literal["completed", "failed", "canceled"] | None = None
    error: dict[str, JsonValue] | None = None
    warnings: list[dict[str, str]] = []
    stopped: bool = False
    timed_out: bool = False
    at: AwareDatetime | None = None
    attempt: int | None = None
    service: dict[str, JsonValue] | None = None  # of a replica of a service


def fact_of(report: FactReport) -> Fact:
    """The fact that was reported. Problem when it lacks something."""
    if report.fact == "ended" and report.outcome is None and not report.timed_out:
        raise run_request.invalid("The fact 'ended' needs an outcome.", "Send 'completed', 'failed' or 'canceled'.")
    return Fact(
        kind=report.fact,
        reason=report.reason,
        outcome=report.outcome,
        error=in_form(report.error),
        warnings=report.warnings,
        stopped=report.stopped,
        timed_out=report.timed_out,
        at=_not_in_future(report.at),
        attempt=report.attempt,
        service=report.service,
    )


def in_form(error: dict[str, JsonValue] | None) -> dict[str, JsonValue] | None:
    """An error in the form of docs/protocol.md. Its reporter sends it until it is taken, so what has another form is
    left out or written as text, and never refused."""
    if error is None:
        return None
    for name in ("code", "message", "help"):
        if error.get(name) is not None and not isinstance(error[name], str):
            error[name] = json.dumps(error[name])
    for name in ("exception", "exit"):
        if not isinstance(error.get(name), dict):
            error.pop(name, None)
    exception = error.get("exception")
    if isinstance(exception, dict) and "frames" in exception:
        frames = exception["frames"]
        exception["frames"] = [each for each in frames if isinstance(each, dict)] if isinstance(frames, list) else []
    return error


def _not_in_future(at: datetime | None) -> datetime | None:
    """A node whose clock is ahead must not make a run end after now; one in the year 1 has no clock."""
    return None if at is None or at.year < 1970 else min(at, datetime.now(timezone.utc))
