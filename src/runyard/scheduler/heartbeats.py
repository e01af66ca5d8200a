"""Runs that should be heard of now and then, and what follows when they are not."""

from __future__ import annotations

import time

from runyard.scheduler import states
from runyard.scheduler.states import Fact
from runyard.scheduler.transitions import Ledger
from runyard.store.errors import StoreError
from runyard.store.runs.runs import Run

SILENT_AFTER = 60.0
"""Seconds without a sign of life until a run counts as NotResponding; its reporter sends one every 10 s."""

LOST_AFTER = 1800.0
"""Seconds without a sign of life until a run is given up."""


class Silence:
    """When each run was last heard of. Any thread may call."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._heard: dict[str, float] = {}
        self._leaders: dict[str, str] = {}

    def expect(self, run_id: str, leader: str | None = None) -> None:
        """From now on until it ends, something must be heard from this run now and then, or from the run whose
        processes lead it: what they say, they say as that one."""
        self._heard[run_id] = time.monotonic()
        if leader is not None:
            self._leaders[run_id] = leader

    def heard(self, run_id: str) -> None:
        if run_id in self._heard:
            self._heard[run_id] = time.monotonic()

    def forget(self, run_id: str) -> None:
        self._heard.pop(run_id, None)
        self._leaders.pop(run_id, None)

    def look(self) -> list[Run]:
        """Tell what follows from silence; returns the runs that were given up."""
        now, lost = time.monotonic(), []
        for run_id, heard in list(self._heard.items()):
            silence = now - max(heard, self._heard.get(self._leaders.get(run_id, ""), heard))
            try:
                if silence > LOST_AFTER:
                    message = f"Nothing was heard from this run for {silence / 60:.0f} minutes."
                    lost.append(self._ledger.fail(run_id, "NodeRunnerLost", message, states.LOST))
                elif silence > SILENT_AFTER:
                    reason = f"nothing was heard from the run for {silence:.0f} s"
                    self._ledger.apply(run_id, Fact(states.SILENT, reason=reason))
            except StoreError as error:
                if error.code != "run_not_found":
                    raise
                self.forget(run_id)
        return lost
