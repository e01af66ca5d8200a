"""The facts that are reported of a run, in the form that the protocol gives them."""

from __future__ import annotations

import time
from typing import Any, Dict

Fact = Dict[str, Any]


def started() -> Fact:
    """The fact that the script was started just now."""
    return {"fact": "started", "at": _now()}


def ended(outcome: str, error: dict[str, Any] | None = None) -> Fact:
    """The fact that a run ended just now."""
    fact: Fact = {"fact": "ended", "outcome": outcome, "at": _now()}
    if error is not None:
        fact["error"] = error
    return fact


def _now() -> str:
    moment = time.time()
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(moment))
    return f"{stamp}.{int(moment % 1 * 1e6):06d}Z"
