"""What a run is doing, why it waits or what ended it, in words, with the next step; and its way from state to state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from runyard.contracts import states
from runyard.server.responses.documents import Json

WAITING = (states.NOT_STARTED, states.QUEUED, states.PROVISIONING, states.PAUSED, states.UNAPPROVED)
PREPARING = (states.PREPARING, states.STARTING)
GOOD, BAD, BUSY, WAITS, STILL = "good", "bad", "busy", "waiting", "still"


@dataclass(frozen=True)
class Step:
    """What somebody can do next: in words, and the command for it where there is one."""

    text: str
    command: str | None = None


@dataclass(frozen=True)
class Account:
    tone: str
    headline: str
    text: str = ""
    frames: list[Json] = field(default_factory=list)
    """Where in the user's code it went wrong, the innermost last."""
    help: str = ""
    next: list[Step] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def account(run: Json) -> Json:
    """Of a run's document with its states."""
    return {**asdict(_account(run)), "timeline": timeline(run["states"], run["attempt"])}


def _account(run: Json) -> Account:
    status, reason = run["status"], run["reason"] or ""
    warnings = [str(each.get("message", "")) for each in run["warnings"] or ()]
    stop = Step("Stop it", f"runyard stop {run['id']}")
    if status == states.FAILED:
        return _failed(run, warnings)
    if status == states.COMPLETED:
        text = "" if reason.lower() == "completed" else _sentence(reason)
        return Account(GOOD, "Completed", text, warnings=warnings, next=_again(run))
    if status == states.CANCELED:
        return Account(STILL, "Canceled", _sentence(reason), warnings=warnings, next=_again(run))
    if status == states.CANCEL_REQUESTED:
        return Account(BUSY, "Being stopped", _sentence(reason), warnings=warnings)
    if status == states.FINALIZING:
        return Account(BUSY, "Ending", _sentence(reason) or "What it has left is being delivered.", warnings=warnings)
    if status == states.NOT_RESPONDING:
        text = _sentence(reason) or "Nothing has been heard of it for a while. It may go on, or its node may be lost."
        step = Step("See which nodes answer", "runyard compute")
        return Account(BAD, "Does not respond", text, warnings=warnings, next=[step, stop])
    if status in WAITING:
        text = _sentence(reason) or f"It waits for a place on {run['target']}."
        step = Step("See what is before it", "runyard compute")
        return Account(WAITS, "Waits", text, warnings=warnings, next=[step, stop])
    if status in PREPARING:
        text = _sentence(reason) or f"Its environment is being prepared on {run['target']}."
        return Account(BUSY, "Is being prepared", text, warnings=warnings, next=[stop])
    attempt = f"This is attempt {run['attempt']}." if run["attempt"] > 1 else ""
    text = " ".join(filter(None, (_sentence(reason), attempt)))
    return Account(BUSY, "Running", text, warnings=warnings, next=[stop])


def _failed(run: Json, warnings: list[str]) -> Account:
    error: Mapping[str, Any] = run["error"] or {}
    exception: Mapping[str, Any] = error.get("exception") or {}
    message = str(error.get("message") or "")
    kind = str(exception.get("type") or "")
    first = f"{kind}: {exception.get('message')}" if kind and exception.get("message") else kind
    ended = str((error.get("exit") or {}).get("words") or "")
    headline, _, rest = (first or message or ended or "It failed").partition("\n")
    more = [text for text in (rest, message, ended) if text and text not in headline]
    text = "\n".join(each for at, each in enumerate(more) if not any(each in other for other in more[:at]))
    return Account(
        BAD,
        f"Failed: {headline[:500]}",
        text,
        [dict(frame) for frame in exception.get("frames") or ()],
        str(error.get("help") or ""),
        _again(run),
        warnings,
    )


def _again(run: Json) -> list[Step]:
    if run.get("launch") is None:
        return []
    return [Step("Run it again as it was, or with changes", f"runyard rerun {run['id']}")]


def _sentence(text: str) -> str:
    """
    >>> _sentence("waits for a place")
    'Waits for a place.'
    """
    text = text.strip()
    if not text:
        return ""
    return text[0].upper() + text[1:] + ("" if text[-1] in ".!?…" else ".")


def timeline(changes: Sequence[Json], attempt: int) -> list[Json]:
    """The states with when each ended, and the attempt of the run that it belongs to.

    >>> [each["attempt"] for each in timeline([{"status": "Queued", "at": "", "reason": None}], 1)]
    [1]
    """
    shown: list[Json] = []
    number, begun = 1, False
    for at, change in enumerate(changes):
        if begun and change["status"] in WAITING and number < attempt:
            number, begun = number + 1, False
        begun = begun or change["status"] in (*PREPARING, states.RUNNING)
        until = changes[at + 1]["at"] if at + 1 < len(changes) else None
        shown.append({**change, "until": until, "attempt": number})
    return shown
