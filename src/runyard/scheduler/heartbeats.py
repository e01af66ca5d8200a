"""Runs that must send a heartbeat now and then, and what follows when they do not."""

from __future__ import annotations

import time

from runyard.scheduler import states
from runyard.scheduler.states import Fact
from runyard.scheduler.transitions import Transitions
from runyard.store.errors import StoreError
from runyard.store.runs.runs import Run

SILENT_AFTER = 60.0
"""Seconds without a sign of life until a run counts as NotResponding; its reporter sends one every 50 s at least."""

LOST_AFTER = 1800.0
"""Seconds without a sign of life until a run is given up."""


class Heartbeats:
    """When each run last gave a sign of life. Any thread may call."""

    def __init__(self, transitions: Transitions) -> None:
        self._transitions = transitions
        self._last: dict[str, float] = {}
        self._leaders: dict[str, str] = {}
        self._found_silent: dict[str, float] = {}  # the last sign of life of runs whose silence is stored already

    @property
    def any_led(self) -> bool:
        """Whether there is any run under way that is led by the processes of another one."""
        return bool(self._leaders)

    def expect(self, run_id: str, leader: str | None = None) -> None:
        """From now until it ends, this run must give signs of life, or the run whose processes lead it: those report
        with the token of the leader."""
        self._last[run_id] = time.monotonic()
        if leader is not None:
            self._leaders[run_id] = leader

    def led(self, run_id: str, leader: str | None) -> None:
        """A run that gives no signs of life itself, and ends at the latest with the run that leads it."""
        if leader is not None:
            self._leaders[run_id] = leader

    def received(self, run_id: str) -> None:
        if run_id in self._last:
            self._last[run_id] = time.monotonic()

    def forget(self, run_id: str) -> None:
        self._last.pop(run_id, None)
        self._leaders.pop(run_id, None)
        self._found_silent.pop(run_id, None)

    def __len__(self) -> int:
        """How many runs must give signs of life."""
        return len(self._last)

    def check(self) -> list[Run]:
        """Apply what follows from silence; returns the runs that were given up."""
        now, lost = time.monotonic(), []
        for run_id, last in list(self._last.items()):
            last = max(last, self._last.get(self._leaders.get(run_id, ""), last))
            silence = now - last
            try:
                if silence > LOST_AFTER:
                    message = f"Nothing was heard from this run for {silence / 60:.0f} minutes."
                    lost.append(self._transitions.fail(run_id, "NodeRunnerLost", message, states.LOST))
                elif silence > SILENT_AFTER and self._found_silent.get(run_id) != last:
                    reason = f"nothing was heard from the run for {silence:.0f} s"
                    self._transitions.apply(run_id, Fact(states.SILENT, reason=reason))
                    self._found_silent[run_id] = last
            except StoreError as error:
                if error.code != "run_not_found":
                    raise
                self.forget(run_id)
        return lost
