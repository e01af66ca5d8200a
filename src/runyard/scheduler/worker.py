"""A thread that does one job after the other, and retries those that could not be done yet."""

from __future__ import annotations

import heapq
import itertools
import logging
import threading
import time
from collections.abc import Callable

from runyard.engines.base import EngineAway, EngineError
from runyard.store.errors import StoreError

log = logging.getLogger("runyard.scheduler")

Job = Callable[[], object]

RETRY_AFTER = 5.0
"""Seconds until the retry of a job that the database or a cluster did not answer."""

PATIENCE = 10.0
"""Seconds to wait at the end for the current job: a cluster that hangs must not stop the server from ending."""


class Worker:
    """Jobs of one subject, in the order in which they came. The thread is started with the first job."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._wakeup = threading.Condition()
        self._jobs: list[tuple[float, int, str | None, Job]] = []  # due time first
        self._due: dict[str, float] = {}  # of jobs that have a key
        self._count = itertools.count()
        self._thread: threading.Thread | None = None
        self._closing = False

    def post(self, job: Job, key: str | None = None, after: float = 0.0) -> None:
        """Do a job once `after` seconds have passed, unless one with the same key is due no later."""
        due = time.monotonic() + after
        with self._wakeup:
            if self._closing or (key is not None and self._due.get(key, due + 1.0) <= due):
                return
            if key is not None:
                self._due[key] = due
            heapq.heappush(self._jobs, (due, next(self._count), key, job))
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name=self._name, daemon=True)
                self._thread.start()
            self._wakeup.notify()

    def close(self, wait: bool = True) -> None:
        """Do nothing more; wait for the current job."""
        with self._wakeup:
            self._closing = True
            self._jobs.clear()
            self._wakeup.notify()
        if wait and self._thread is not None:
            self._thread.join(PATIENCE)

    def _work(self) -> None:
        while (taken := self._next()) is not None:
            key, job = taken
            try:
                job()
            except (StoreError, EngineAway) as error:
                if not self._closing and getattr(error, "code", "") != "run_not_found":
                    log.error("%s: to be tried again: %s", self._name, error)
                    self.post(job, key, RETRY_AFTER)
            except EngineError as error:
                log.error("%s: %s", self._name, error)
            except Exception:
                if not self._closing:  # a database that is closed under a job is no news
                    log.exception("%s: a job failed", self._name)

    def _next(self) -> tuple[str | None, Job] | None:
        with self._wakeup:
            while not self._closing:
                left = self._jobs[0][0] - time.monotonic() if self._jobs else None
                if left is not None and left <= 0:
                    due, _, key, job = heapq.heappop(self._jobs)
                    if key is not None:
                        if self._due.get(key) != due:
                            continue  # one that came later was due earlier, and is done
                        del self._due[key]
                    return key, job
                self._wakeup.wait(left)
        return None
