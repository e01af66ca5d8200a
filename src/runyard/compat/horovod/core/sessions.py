"""The one session of a process: all frameworks that a script initializes share it."""

from __future__ import annotations

from ..common.exceptions import NotInitialized
from .negotiator import Negotiator

_open: list[Negotiator] = []  # one, or none


def current() -> Negotiator:
    if not _open:
        raise NotInitialized
    return _open[0]


def found() -> Negotiator | None:
    return _open[0] if _open else None


def enter(session: Negotiator) -> None:
    _open[:] = [session]


def leave() -> None:
    _open.clear()
