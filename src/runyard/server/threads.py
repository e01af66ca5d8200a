"""Threads for work that blocks. What writes has threads of its own, so that reads never wait for one of them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import anyio.to_thread
from anyio import CapacityLimiter
from anyio.lowlevel import RunVar

P = ParamSpec("P")
Result = TypeVar("Result")

WRITERS = 16
"""How many threads may write, or wait to write: one at a time does."""

LONGEST_TURN = 0.0005
"""Seconds for which a thread may run Python while others wait to. A read asks for its turn after every row, and with
Python's 5 ms a page of a hundred rows would wait half a second on a busy server."""

_limiter: RunVar[CapacityLimiter] = RunVar("runyard.writers")


async def in_writer_thread(function: Callable[P, Result], *args: P.args, **kwargs: P.kwargs) -> Result:
    """Call a function that may wait for the database's write lock, or for a disk."""
    try:
        limiter = _limiter.get()
    except LookupError:
        limiter = CapacityLimiter(WRITERS)
        _limiter.set(limiter)
    return await anyio.to_thread.run_sync(lambda: function(*args, **kwargs), limiter=limiter)


def take_short_turns() -> None:
    """Let the threads of this process take turns more often than Python does by itself."""
    sys.setswitchinterval(LONGEST_TURN)
