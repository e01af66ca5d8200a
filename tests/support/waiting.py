"""Waiting for something to become true, with pauses that grow.

A wait that looks every few milliseconds for half a minute takes the CPU from what it waits for: to look is a request
to a server, or a walk through all processes of the machine. What comes soon is seen soon, and what takes long is seen
at most a quarter of a second late.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

DEADLINE = 120.0
SHORTEST, LONGEST = 0.01, 0.25
SHARE = 10
"""A pause is this part of what was waited already."""


def wait_until(condition: Callable[[], T], what: str = "", seconds: float = DEADLINE) -> T:
    """Wait until a condition holds, and return what it returned."""
    began = time.monotonic()
    while not (found := condition()):
        waited = time.monotonic() - began
        assert waited < seconds, f"waited in vain for {what or condition}"
        time.sleep(min(max(waited / SHARE, SHORTEST), LONGEST))
    return found
