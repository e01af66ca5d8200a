"""A thread that does one job after the other, and tries those again that could not be done yet."""

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

TRY_AGAIN_AFTER = 5.0
"""Seconds until a job is tried again that the database or a cluster did not answer."""

PATIENCE = 10.0
"""Seconds to wait at the end for a job under way: a cluster that hangs must not keep the server from ending."""


class Worker:
    """Jobs of one subject, in the order in which they came. The thread is there once there is something to do."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._news = threading.Condition()
        self._jobs: list[tuple[float, int, str | None, Job]] = []  # due time first
        self._due: dict[str, float] = {}  # of jobs that have a key
        self._count = itertools.count()
        self._thread: threading.Thread | None = None
        self._closing = False

    def post(self, job: Job, key: str | None = None, after: float = 0.0) -> None:
        """Have a job done, once `after` seconds have passed. One that has the same key, and comes no later, will do."""
        due = time.monotonic() + after
        with self._news:
            if self._closing or (key is not None and self._due.get(key, due + 1.0) <= due):
                return
            if key is not None:
                self._due[key] = due
            heapq.heappush(self._jobs, (due, next(self._count), key, job))
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name=self._name, daemon=True)
                self._thread.start()
            self._news.notify()

    def close(self, wait: bool = True) -> None:
        """Do nothing more; wait for the job that is under way."""
        with self._news:
            self._closing = True
            self._jobs.clear()
            self._news.notify()
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
                    self.post(job, key, TRY_AGAIN_AFTER)
            except EngineError as error:
                log.error("%s: %s", self._name, error)
            except Exception:
                if not self._closing:  # a database that is closed under a job is no news
                    log.exception("%s: a job failed", self._name)

    def _next(self) -> tuple[str | None, Job] | None:
        with self._news:
            while not self._closing:
                left = self._jobs[0][0] - time.monotonic() if self._jobs else None
                if left is not None and left <= 0:
                    due, _, key, job = heapq.heappop(self._jobs)
                    if key is not None:
                        if self._due.get(key) != due:
                            continue  # one that came later was due earlier, and is done
                        del self._due[key]
                    return key, job
                self._news.wait(left)
        return None
