"""All sweeps under way, and the events that drive them: a child's end, a value that arrives, a cancel, the clock.

One thread works for all of them, and is started with the first. Runs that belong to no sweep cost one look into a
dictionary that is empty.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

from runyard.contracts import states as names
from runyard.contracts.sweeps import sweep as contract
from runyard.contracts.sweeps.sweep import Sweep
from runyard.engines.base import EngineAway, EngineError
from runyard.scheduler import states
from runyard.scheduler.states import Fact
from runyard.scheduler.sweeps.controller import Controller, Hands
from runyard.scheduler.sweeps.trials import Trial
from runyard.scheduler.transitions import Transitions
from runyard.scheduler.worker import Worker
from runyard.store.assets import sweeps
from runyard.store.errors import StoreError
from runyard.store.runs import labels, runs
from runyard.store.runs.records import Run
from runyard.store.runs.runs import StateChange
from runyard.store.store import Store

log = logging.getLogger("runyard.scheduler")

LOG_AFTER = 0.2
"""Seconds until what was said of a sweep is stored, with all that was said by then."""

PATIENCE = 10.0
"""Seconds to wait until a sweep that was extended goes on."""


class Sweeps:
    """Any thread may call. `submit` puts a run into its queue, `stop` asks one to stop and says why; `grown` is told
    of the logs of sweeps."""

    def __init__(
        self,
        store: Store,
        transitions: Transitions,
        submit: Callable[[Run], None],
        stop: Callable[[str, str], object],
        grown: Callable[[str, str, int], None],
    ) -> None:
        self._store, self._transitions = store, transitions
        self._hands = Hands(submit, lambda run_id, why: _nothing(stop(run_id, why)), self._report, grown)
        self._worker = Worker("sweeps")
        self._live: dict[str, Controller] = {}
        transitions.subscribe(self._changed)

    def take_up(self, run: Run) -> None:
        """A sweep was made, or was under way when the former server ended."""
        controller = self._live[run.id] = Controller(self._store, run.id, self._hands)
        self._worker.post(partial(self._load, run.id, controller))

    def close(self) -> None:
        self._worker.close()
        for controller in self._live.values():
            controller.write_log()

    def delivered(self, run_id: str, writer: str, offset: int, data: bytes) -> None:
        """Lines of a journal were stored."""
        if not self._live:
            return
        parent, _, number = run_id.rpartition("_")
        if parent in self._live and number.isdecimal():
            self._post(parent, lambda controller: controller.delivered(int(number), writer, offset, data))

    def judges(self, run_id: str) -> bool:
        """Whether a policy waits for what a run logs."""
        controller = self._live.get(run_id.rpartition("_")[0]) if self._live else None
        return controller is not None and controller.judges

    def stop_starting(self, run_id: str) -> None:
        """A run is about to be cancelled. A sweep is to start nothing in the place of the children that end first."""
        controller = self._live.get(run_id)
        if controller is not None:
            controller.stopping = "the sweep was cancelled"

    def forget(self, run_id: str) -> None:
        """A run was deleted."""
        self._live.pop(run_id, None)
        parent, _, number = run_id.rpartition("_")
        if parent in self._live and number.isdecimal():
            self._child_ended(parent, int(number), "Deleted")

    def extend(self, run_id: str, more: int) -> None:
        """Let a sweep have more children, also one that has ended. BadSweep, or NotFound for a run that is none."""
        with self._store.database.write() as connection:
            extended = _extended(sweeps.get(connection, run_id).sweep, more)
            sweeps.change(connection, run_id, extended)
            tag = {contract.SYSTEM_TAG + contract.RUNS_TAG: str(extended.runs)}
            labels.put(connection, runs.serial_of(connection, run_id), labels.TAG, tag)
        done = threading.Event()
        self._worker.post(partial(self._extend, run_id, more, done))
        done.wait(PATIENCE)

    def _extend(self, run_id: str, more: int, done: threading.Event) -> None:
        """In the thread that also ends sweeps: one that is about to end goes on instead."""
        controller = self._live.get(run_id)
        if controller is not None and controller.is_loaded:
            controller.renew()
            controller.write_log()
        elif controller is None:
            fact = Fact(states.EXTENDED, reason=f"may have {more} more children")
            self.take_up(self._transitions.apply(run_id, fact))
        done.set()

    def trials(self, run_id: str) -> dict[int, Trial]:
        """The trials of a sweep under way, by number; none of one that has ended."""
        controller = self._live.get(run_id)
        return {} if controller is None else dict(controller.trials)

    def _changed(self, run: Run, change: StateChange) -> None:
        """A run has another state."""
        if not self._live:
            return
        if run.id in self._live:
            if run.ended:
                self._live.pop(run.id, None)
            elif run.status == names.CANCEL_REQUESTED or states.is_declared(run.error):
                why = "the sweep was cancelled" if run.status == names.CANCEL_REQUESTED else "the sweep was ended"
                self._post(run.id, lambda controller: controller.cancel(why))
        elif run.ended and run.parent_id in self._live:
            _, _, number = run.id.rpartition("_")
            if number.isdecimal() and sweeps.trial_id(run.parent_id, int(number)) == run.id:
                self._child_ended(run.parent_id, int(number), run.status)

    def _child_ended(self, run_id: str, number: int, status: str) -> None:
        """The ends that have come by now are noted first; then one transaction fills all of the places."""

        def note(controller: Controller) -> None:
            controller.ended(number, status)
            self._post(run_id, Controller.advance, f"places of {run_id}")

        self._post(run_id, note)

    def _post(self, run_id: str, act: Callable[[Controller], None], key: str | None = None) -> None:
        def job() -> None:
            controller = self._live.get(run_id)
            if controller is not None and controller.is_loaded:
                with self._failing(run_id):
                    act(controller)
                self._worker.post(controller.write_log, f"log of {run_id}", LOG_AFTER)

        self._worker.post(job, key)

    @contextmanager
    def _failing(self, run_id: str) -> Iterator[None]:
        """A sweep of which something cannot be done for a reason that will not pass ends: it would wait for ever."""
        try:
            yield
        except (StoreError, EngineAway, EngineError):
            raise
        except Exception as error:
            log.exception("the sweep %s cannot go on", run_id)
            message = f"The sweep cannot go on, and its children do without it: {type(error).__name__}: {error}"
            self._transitions.fail(run_id, "SweepFailed", message)

    def _load(self, run_id: str, controller: Controller) -> None:
        if self._live.get(run_id) is not controller:
            return
        with self._failing(run_id):
            controller.load()
            controller.go_on()
            controller.write_log()
            self._watch_clock(run_id, controller)

    def _watch_clock(self, run_id: str, controller: Controller) -> None:
        if self._live.get(run_id) is not controller:
            return
        controller.out_of_time()
        if self._live.get(run_id) is controller and controller.stopping is None:
            again = partial(self._watch_clock, run_id, controller)
            self._worker.post(again, f"clock of {run_id}", max(1.0, controller.seconds_left))

    def _report(self, run_id: str, fact: Fact) -> Run:
        apply = self._transitions.end if fact.kind == states.ENDED else self._transitions.apply
        return apply(run_id, fact)


def _extended(sweep: Sweep, more: int) -> Sweep:
    """A sweep that may have so many more children."""
    made = replace(sweep, runs=sweep.runs + more)
    contract.check_budget(made.runs, made.at_once, made.minutes)
    return made


def _nothing(value: object) -> None:
    """For a function whose result is of no use."""
