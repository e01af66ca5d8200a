"""Listings that were answered in part: the next request goes on with one where it stopped, instead of looking through
everything before it again. They are dropped after some seconds; then a request finds its place by itself."""

from __future__ import annotations

import threading
import time

from runyard.server.data.listing import Going

KEPT = 30.0
MOST = 8

Key = tuple[str, str, str, str]
"""Workspace, dataset, what is told of the files, and where it goes on."""

_lock = threading.Lock()
_going: dict[Key, tuple[float, Going]] = {}


def keep(key: Key, listing: Going) -> None:
    """Keep a listing for whoever asks for what comes next."""
    with _lock:
        while len(_going) >= MOST:
            _going.pop(next(iter(_going)))
        _going[key] = (time.monotonic(), listing)
        if len(_going) == 1:
            _look_again()


def take(key: Key) -> Going | None:
    """A listing that was kept, for one request alone."""
    with _lock:
        found = _going.pop(key, None)
    return found[1] if found is not None else None


def _drop_old() -> None:
    now = time.monotonic()
    with _lock:
        for key in [key for key, (at, _) in _going.items() if now - at >= KEPT]:
            _going.pop(key)
        if _going:
            _look_again()


def _look_again() -> None:
    timer = threading.Timer(KEPT + 1.0, _drop_old)
    timer.daemon = True
    timer.start()
