"""Whether the server can work: its database and its objects can be read and written.

Anybody may ask, so what is found out serves all who ask within a second, and nobody waits in line for it.
"""

from __future__ import annotations

import threading
import time

from runyard.store.errors import StoreError
from runyard.store.store import Store

GOOD_FOR = 1.0
"""Seconds for which an answer is cached."""

OK = "ok"
_PROBE = bytes(64 << 10)


class Readiness:
    """Safe to use from many threads."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._found: dict[str, str] | None = None
        self._at = 0.0

    def look(self) -> dict[str, str]:
        """The state of each part; `OK` when it can be used."""
        # Whoever comes while somebody looks gets what is known; only the very first have to wait.
        if self._lock.acquire(blocking=self._found is None):
            try:
                if self._found is None or time.monotonic() - self._at >= GOOD_FOR:
                    self._found = {"database": self._database(), "objects": self._objects()}
                    self._at = time.monotonic()
            finally:
                self._lock.release()
        assert self._found is not None
        return self._found

    def _database(self) -> str:
        try:
            self._store.database.check()
        except StoreError as error:
            return error.code
        return OK

    def _objects(self) -> str:
        try:
            writer = self._store.objects.writer()
            try:
                writer.write(_PROBE)
            finally:
                writer.abort()
        except StoreError as error:
            return error.code
        except OSError:
            return "not writable"
        return OK
