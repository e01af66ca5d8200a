"""Calls that return at once: a handle is a number by which their result is asked for, once."""

from __future__ import annotations

import itertools
import threading
from typing import Any, Callable

from . import sessions
from .negotiator import Ticket

Finish = Callable[[Any], Any]

_handles: dict[int, tuple[Ticket, Finish]] = {}
_numbers = itertools.count(1)
_lock = threading.Lock()


def handle_of(ticket: Ticket, finish: Finish) -> int:
    """A handle for what is under way; `finish` makes the caller's result of its output."""
    with _lock:
        number = next(_numbers)
        _handles[number] = (ticket, finish)
    return number


def poll(handle: int) -> bool:
    """Whether an asynchronous call is done; `synchronize` then returns at once."""
    with _lock:
        found = _handles.get(handle)
    if found is None:
        raise _unknown(handle)
    return found[0].done


def synchronize(handle: int) -> Any:
    """Wait for an asynchronous call, and return its result. A handle is good for one call."""
    with _lock:
        found = _handles.pop(handle, None)
    if found is None:
        raise _unknown(handle)
    ticket, finish = found
    return finish(sessions.current().wait(ticket))


def _unknown(handle: int) -> ValueError:
    return ValueError(f"There is no call under way with the handle {handle}: it may be synchronized already.")
