"""Runs that must send a heartbeat now and then, and what follows when they do not."""

from __future__ import annotations

import time

from runyard.scheduler import states
from runyard.scheduler.states import Fact
from runyard.scheduler.transitions import Transitions
from runyard.store.errors import StoreError
from runyard.store.runs.runs import Run

SILENT_AFTER = 60.0
"""Seconds without a sign of life until a run counts as NotResponding; its reporter sends one every 50 s at least,
unless the server lets it wait for longer."""

SPARE = 18.0
"""Seconds that a reporter has after the wait that the server has set, which is what the usual one leaves it."""

LOST_AFTER = 1800.0
"""Seconds without a sign of life until a run is given up."""


class Heartbeats:
    """When each run last gave a sign of life. Any thread may call."""

    def __init__(self, transitions: Transitions) -> None:
        self._transitions = transitions
        self._last: dict[str, float] = {}
        self._promised: dict[str, float] = {}  # until when runs whose responses are held for long need not be heard of
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
        self._promised.pop(run_id, None)
        if leader is not None:
            self._leaders[run_id] = leader

    def led(self, run_id: str, leader: str | None) -> None:
        """A run that gives no signs of life itself, and ends at the latest with the run that leads it."""
        if leader is not None:
            self._leaders[run_id] = leader

    def received(self, run_id: str) -> None:
        if run_id in self._last:
            self._last[run_id] = time.monotonic()
            self._promised.pop(run_id, None)

    def held(self, run_id: str, seconds: float) -> None:
        """The server holds its response to a run, which so has nothing to say for that long."""
        if seconds + SPARE > SILENT_AFTER and run_id in self._last:
            self._promised[run_id] = time.monotonic() + seconds + SPARE

    def cut(self, run_id: str) -> None:
        """The connection of such a run is lost, and with it the sign that its reporter is there."""
        promised = self._promised.get(run_id)
        if promised is not None:
            self._promised[run_id] = min(promised, time.monotonic() + SILENT_AFTER)

    def forget(self, run_id: str) -> None:
        self._last.pop(run_id, None)
        self._promised.pop(run_id, None)
        self._leaders.pop(run_id, None)
        self._found_silent.pop(run_id, None)

    def __len__(self) -> int:
        """How many runs must give signs of life."""
        return len(self._last)

    def check(self) -> list[Run]:
        """Apply what follows from silence; returns the runs that were given up."""
        now, lost = time.monotonic(), []
        for run_id, last in list(self._last.items()):
            leader = self._leaders.get(run_id, "")
            last = max(last, self._last.get(leader, last))
            silence = now - last
            try:
                if silence > LOST_AFTER:
                    message = f"Nothing was heard from this run for {silence / 60:.0f} minutes."
                    lost.append(self._transitions.fail(run_id, "NodeRunnerLost", message, states.LOST))
                elif (
                    silence > SILENT_AFTER
                    and self._found_silent.get(run_id) != last
                    and now > self._promised.get(run_id, now - 1)
                    and now > self._promised.get(leader, now - 1)
                ):
                    reason = f"nothing was heard from the run for {silence:.0f} s"
                    self._transitions.apply(run_id, Fact(states.SILENT, reason=reason))
                    self._found_silent[run_id] = last
            except StoreError as error:
                if error.code != "run_not_found":
                    raise
                self.forget(run_id)
        return lost
