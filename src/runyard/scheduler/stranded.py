"""Delivering what dead node runners have left in the folders of runs that are over for everybody else.

A run that was given up, because its runner and several rescuers died, still has its data on the disk. It is never given
up for good: a rescuer is sent again and again, after growing pauses and at every start of the server, until the folder
is empty or the run is deleted. The end that it reports takes the place of the guess.
"""

from __future__ import annotations

import logging

from runyard.engines.base import EngineError
from runyard.engines.folders import RunFolders
from runyard.scheduler.worker import Worker
from runyard.store.runs import runs
from runyard.store.store import Store

log = logging.getLogger("runyard.scheduler")

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 3600.0
"""Seconds from the death of the first rescuer to the second one, and at most between two."""

AT_ONCE = 4
"""Rescuers that work at the same time: after a bad night there may be hundreds of folders."""

NO_PLACE = 1.0
"""Seconds until the next check whether one of those is done."""


def pause_after(tries: int) -> float:
    """
    >>> [pause_after(tries) for tries in (0, 1, 2, 3, 4, 50)]
    [0.0, 1.0, 2.0, 4.0, 8.0, 3600.0]
    """
    return min(FIRST_PAUSE * 2.0 ** min(tries - 1, 30), LONGEST_PAUSE) if tries else 0.0


class Stranded:
    """Any thread may call; one thread of its own does the work. It receives the ends of the rescuers that it sends."""

    def __init__(self, store: Store, folders: RunFolders) -> None:
        self._store, self._folders = store, folders
        self._worker = Worker("stranded")
        self._tries: dict[str, int] = {}
        self._at_work: set[str] = set()
        self._deleted: set[str] = set()  # runs whose folders could not be removed yet: a runner worked there

    def look(self, run_id: str, tries: int = 0) -> None:
        """No node runner of this run is alive, as far as is known. If the run is over, and something of it is still
        here, that is delivered. So many `tries` were made already."""
        self._worker.post(lambda: self._look(run_id, tries))

    def waits(self, run_id: str, reason: str) -> None:
        """Rescuers do not wait: they are processes of this machine."""

    def placed(self, run_id: str) -> None:
        """Nor do they need nodes."""

    def gone(self, run_id: str, how: str, taken: bool = False) -> None:
        """A rescuer has ended, or the last runner of a run that is over."""
        self._worker.post(lambda: self._gone(run_id, how))

    def forget(self, run_id: str) -> None:
        """The run was deleted, and its folder is not wanted any more. A rescuer that is at work notices that."""
        self._tries.pop(run_id, None)
        if run_id in self._folders.left():
            self._deleted.add(run_id)
            self._clear(run_id)

    def close(self) -> None:
        self._worker.close()

    def _look(self, run_id: str, tries: int = 0) -> None:
        if self._is_here(run_id):
            self._tries[run_id] = max(tries, self._tries.get(run_id, 0))
            self._send_later(run_id, pause_after(self._tries[run_id]))

    def _gone(self, run_id: str, how: str) -> None:
        sent = run_id in self._at_work
        self._at_work.discard(run_id)
        if not self._folders.exist(run_id):  # as a rule: the last runner has removed them
            self._tries.pop(run_id, None)
            self._deleted.discard(run_id)
            return
        if self._is_here(run_id):
            self._tries[run_id] = self._tries.get(run_id, 0) + sent
            pause = pause_after(self._tries[run_id])
            log.warning("what is left of %s is not delivered yet (%s); a runner follows in %.0f s", run_id, how, pause)
            self._send_later(run_id, pause)

    def _send_later(self, run_id: str, pause: float) -> None:
        self._worker.post(lambda: self._send(run_id), key=run_id, after=pause)

    def _send(self, run_id: str) -> None:
        if run_id in self._at_work or not self._is_here(run_id):
            return
        if len(self._at_work) >= AT_ONCE:
            self._send_later(run_id, NO_PLACE)
            return
        self._at_work.add(run_id)
        try:
            sent = self._folders.rescue(run_id, self)
        except EngineError as error:
            self._gone(run_id, str(error))
            return
        if sent is None:
            self._at_work.discard(run_id)

    def _is_here(self, run_id: str) -> bool:
        """Whether something of a run that is over is here. A folder in which nobody has worked is removed; that of a
        run which is not in this database is left alone: nobody has its content yet."""
        with self._store.database.read() as connection:
            run = runs.look_up(connection, run_id)
        here = run is not None and run.ended and self._folders.worked_in(run_id)
        if not here:
            self._tries.pop(run_id, None)
            if run_id in self._deleted or (run is not None and run.ended):
                self._clear(run_id)
        return here

    def _clear(self, run_id: str) -> None:
        self._folders.clear(run_id)
        if run_id not in self._folders.left():
            self._deleted.discard(run_id)
