"""Putting a run in the queue of its compute target: after its submit, after a restart, for its next attempt."""

from __future__ import annotations

from runyard.scheduler.stranded import Stranded
from runyard.scheduler.target_queues import TargetQueues
from runyard.scheduler.transitions import Transitions
from runyard.store.runs.runs import Run


class Admission:
    def __init__(self, queues: TargetQueues, transitions: Transitions, stranded: Stranded) -> None:
        self._queues, self._transitions, self._stranded = queues, transitions, stranded

    def enqueue(self, run: Run) -> None:
        """Let a run wait for its nodes. One whose target was removed fails."""
        queue = self._queues.enter(run)
        if queue is None:
            message = f"There is no compute target {run.target!r} in the workspace {run.workspace!r} any more."
            self._transitions.fail(run.id, "UnknownTarget", message, final=True)
            self._stranded.look(run.id)
            return
        queue.wait(run)
        queue.wake()
