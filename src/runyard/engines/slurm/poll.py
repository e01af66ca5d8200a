"""One poll for all jobs of a target: a thread that asks squeue what became of them, reports it, and passes stops on.

It asks often while something is about to happen, seldom otherwise, and not at all while there is no job.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from runyard.engines.base import EngineAway, EngineError, EngineEvents
from runyard.engines.slurm.commands import Commands
from runyard.engines.slurm.jobs import Job, ask, ask_history

SOON, WAITING, RUNNING = 0.25, 1.0, 2.0
"""Seconds between two questions: after something has changed, while jobs wait, while they run."""

LIVELY = 15.0
"""Seconds after a change in which another one is likely."""

ENDING_AT_MOST = 45.0
"""Seconds for which a job that is completing is waited for. A node that is dead holds it up until Slurm gives up that
node; what still ran there has ended itself long before, because it had lost its leader."""

AWAY_AT_MOST = 10.0
"""Seconds between two questions to a cluster that does not answer."""

MISSED = 3
"""How often in a row a job must be unknown to Slurm."""

HISTORY_WITHIN = 300.0
"""Seconds for which the accounting is asked how a job has ended that squeue has forgotten. It may be away, or not know
of it yet; but where it can never be reached, a run must not wait for it for ever."""

_log = logging.getLogger(__name__)


@dataclass
class _Watched:
    id: str
    name: str
    run_id: str
    events: EngineEvents
    reported: str = ""  # why it waits, as it was last reported
    placed: bool = False
    seen: Job | None = None
    changed: float = field(default_factory=time.monotonic)
    missed: int = 0
    lost_at: float | None = None  # when squeue had forgotten it
    ask_history_at: float = 0.0  # when the accounting is to be asked for it
    stopping: bool = False
    stopped_at: float = 0.0  # when it was last asked to stop
    stops: int = 0

    def pace(self, now: float) -> float:
        if self.lost_at is not None:
            return WAITING
        if self.stopping or self.missed or now - self.changed < LIVELY:
            return SOON
        return RUNNING if self.placed else WAITING


class Poll:
    def __init__(self, commands: Commands, python: str) -> None:
        self._commands, self._python = commands, python
        self._jobs: dict[str, _Watched] = {}
        self._woken = threading.Condition()
        self._thread: threading.Thread | None = None
        self._nudged = False  # there is a request since the thread last looked
        self._closed = False

    def add(self, job: str, name: str, run_id: str, events: EngineEvents) -> None:
        with self._woken:
            self._jobs[job] = _Watched(job, name, run_id, events)
            self._nudged = True
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="slurm", daemon=True)
                self._thread.start()
            self._woken.notify()

    def stop(self, job: str) -> None:
        with self._woken:
            if job in self._jobs:
                self._jobs[job].stopping = self._nudged = True
                self._woken.notify()

    def nodes(self) -> dict[str, str]:
        """Where the jobs are: the nodes as Slurm writes them, by run."""
        with self._woken:
            jobs = list(self._jobs.values())
        return {each.run_id: each.seen.nodes for each in jobs if each.seen is not None and each.seen.nodes}

    def close(self) -> None:
        with self._woken:
            self._closed = True
            self._woken.notify()

    def _work(self) -> None:
        pause = SOON
        while True:
            with self._woken:
                while not self._jobs and not self._closed:
                    self._woken.wait()
                if self._closed:
                    return
                self._nudged = False
                jobs = list(self._jobs.values())
            began = time.monotonic()
            try:
                self._look(jobs)
                now = time.monotonic()
                # A cluster that is slow to answer has enough to do.
                pause = max(min((each.pace(now) for each in jobs), default=SOON), 2 * (now - began))
            except EngineError as error:
                self._report_away(jobs, error)
                pause = min(2 * pause, AWAY_AT_MOST)
            except Exception:  # noqa: BLE001 - the watch over all other jobs must not end
                _log.exception("the watch over Slurm's jobs failed, and goes on")
                pause = AWAY_AT_MOST
            with self._woken:
                if not self._closed and not self._nudged:
                    self._woken.wait(pause)

    def _look(self, jobs: list[_Watched]) -> None:
        known = ask(self._commands, [each.id for each in jobs])
        lost = []
        for each in jobs:
            job = known.get(each.id)
            if job is None or job.name != each.name:  # ids begin anew when a cluster loses its memory
                each.missed += 1
                if each.missed >= MISSED:
                    lost.append(each)
                continue
            each.missed, each.lost_at, each.ask_history_at = 0, None, 0.0
            if each.seen is None or job.state != each.seen.state:
                each.changed = time.monotonic()
            each.seen = job
            self._note(each, job)
        if lost:
            self._find_out(lost)
        self._pass_on([each for each in jobs if each.stopping and each.id in self._jobs])

    def _note(self, each: _Watched, job: Job) -> None:
        """Report what has become of a job."""
        patience = job.ending and time.monotonic() - each.changed < ENDING_AT_MOST
        if job.requeued and not patience:
            self._scancel(job.id)
            self._gone(each, job.how_it_was_requeued(), taken=not each.stopping)
        elif job.waiting:
            if job.looked_at or time.monotonic() - each.changed > LIVELY:
                self._waits(each, job.why_waiting())
        elif job.over:
            self._gone(each, job.how_it_ended(self._python), taken=job.taken)
        elif job.ending and not patience:
            self._gone(each, f"Slurm job {job.id} is over, but still completing on {job.nodes}")
        elif not each.placed and not (job.ending or job.requeued):
            each.placed, each.reported = True, ""
            self._pass_on_event(lambda: each.events.placed(each.run_id))

    def _waits(self, each: _Watched, reason: str) -> None:
        if each.reported != reason:
            each.reported = reason
            self._pass_on_event(lambda: each.events.waits(each.run_id, reason))

    def _gone(self, each: _Watched, how: str, taken: bool = False) -> None:
        with self._woken:
            if self._jobs.pop(each.id, None) is None:
                return
        self._pass_on_event(lambda: each.events.gone(each.run_id, how, taken))

    def _find_out(self, lost: list[_Watched]) -> None:
        """Report jobs that squeue does not know any more."""
        now = time.monotonic()
        due = [each for each in lost if now >= each.ask_history_at]
        if not due:
            return
        remembered, silence = self._ask_history(due)
        for each in due:
            job = remembered.get(each.id)
            each.lost_at = now if each.lost_at is None else each.lost_at
            waited = now - each.lost_at
            unheard = bool(silence) if job is None else not (job.over or job.requeued)
            if unheard and waited < HISTORY_WITHIN and not each.stopping:
                each.ask_history_at = time.monotonic() + min(max(waited, 0.5), 30.0)
            elif job is None or unheard or job.name != each.name:
                self._gone(each, f"Slurm does not know job {each.id} any more{silence}")
            elif job.requeued:
                self._gone(each, job.how_it_was_requeued(), taken=not each.stopping)
            else:
                self._gone(each, job.how_it_ended(self._python), taken=job.taken)

    def _ask_history(self, jobs: list[_Watched]) -> tuple[dict[str, Job], str]:
        """What the accounting knows, and why it does not answer where it should."""
        try:
            return ask_history(self._commands, [each.id for each in jobs]), ""
        except EngineAway as error:
            return {}, f", and its accounting does not answer: {error}"

    def _report_away(self, jobs: list[_Watched], error: EngineError) -> None:
        for each in jobs:
            if not each.placed:
                self._waits(each, str(error) if isinstance(error, EngineAway) else f"Slurm cannot be asked: {error}")

    def _pass_on(self, stopping: list[_Watched]) -> None:
        """Take those that wait out of the queue, and ask those that run to stop.

        The signal goes to the batch script, which is the runner of node 0: no other process gets it, and Slurm starts
        no clock. One that comes before the script is started can be lost, so it is sent again; another does no harm.
        """
        now = time.monotonic()
        waiting, preparing, running = [], [], []
        for each in stopping:
            if each.seen is None or each.seen.ending or now - each.stopped_at < min(2.0**each.stops, 30.0) / 2:
                continue
            if each.seen.waiting:
                waiting.append(each)
            elif each.seen.preparing or each.seen.state == "SUSPENDED":  # it would not see a signal
                preparing.append(each)
            else:
                running.append(each)
        for group, how in ((waiting, ["--state=PENDING"]), (preparing, []), (running, ["--batch", "--signal=TERM"])):
            if group:
                self._scancel(*how, *(each.id for each in group))
            for each in group:
                each.stopped_at, each.stops = now, each.stops + 1

    def _scancel(self, *arguments: str) -> None:
        try:
            self._commands.run("scancel", "--quiet", *arguments)
        except EngineAway:
            raise
        except EngineError as error:  # it has ended in this moment: the next answer of squeue shows it
            _log.info("%s", error)

    def _pass_on_event(self, call: Callable[[], None]) -> None:
        try:
            call()
        except Exception:  # noqa: BLE001 - one run must not hold up the events of the others
            _log.exception("what Slurm says of a job could not be passed on")
