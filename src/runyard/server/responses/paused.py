"""Lists that were answered in part: the next request goes on with one where it stopped, instead of looking through
everything before it again. They are dropped after some seconds; then a request finds its place by itself."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from itertools import islice
from typing import Generic, TypeVar

T = TypeVar("T")
K = TypeVar("K")

KEPT = 30.0
MOST = 8

Key = tuple[str, ...]
"""What is listed, and where it goes on."""


class Pages(Generic[T]):
    """A listing page by page, which knows whether there is another one."""

    def __init__(self, items: Iterator[T]) -> None:
        self._items = items
        self._ahead: list[T] = []

    def page(self, limit: int) -> list[T]:
        """The next items, at most so many."""
        found = self._ahead
        found += islice(self._items, limit - len(found))
        self._ahead = []
        return found

    def more(self) -> bool:
        """Whether there are others."""
        self._ahead = self._ahead or list(islice(self._items, 1))
        return bool(self._ahead)


_lock = threading.Lock()
_going: dict[Key, tuple[float, object]] = {}
_looking = False  # whether a timer is set: one for all, however many pages are kept and taken meanwhile


def keep(key: Key, listing: object) -> None:
    """Keep a listing for whoever asks for what comes next."""
    global _looking
    with _lock:
        while len(_going) >= MOST:
            _going.pop(next(iter(_going)))
        _going[key] = (time.monotonic(), listing)
        if not _looking:
            _looking = True
            _look_again()


def take(key: Key, kind: type[K]) -> K | None:
    """A listing that was kept, for one request alone."""
    with _lock:
        found = _going.pop(key, None)
    return found[1] if found is not None and isinstance(found[1], kind) else None


def _drop_old() -> None:
    global _looking
    now = time.monotonic()
    with _lock:
        for key in [key for key, (at, _) in _going.items() if now - at >= KEPT]:
            _going.pop(key)
        _looking = bool(_going)
        if _looking:
            _look_again()


def _look_again() -> None:
    timer = threading.Timer(KEPT + 1.0, _drop_old)
    timer.daemon = True
    timer.start()
