"""The nodes of a compute target on this machine: places for node runners, which come and go with the runs.

A node comes at once when a run needs it, and goes when it was idle for long enough. Its state:

    idle        no run has it
    preparing   a run has it, and its script has not started yet
    running     a run has it, from the start of its script until the run has ended, its outputs are stored and its node
                runner is gone
    leaving     a run has it, and it goes when that run gives it back: the target has become smaller

Nothing is allocated that takes time, so the pool is steady unless nodes are leaving.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timezone

from runyard.contracts.compute import (
    IDLE,
    LEAVING,
    NODE_STATES,
    PREPARING,
    RESIZING,
    RUNNING,
    STEADY,
    Node,
    Status,
)

Clock = Callable[[], float]
"""Seconds since 1970."""


def moment(seconds: float) -> str:
    """A reading of the clock as the protocol has it."""
    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


@dataclass
class _Place:
    run_id: str | None
    running: bool
    since: float  # when it was last given to a run or given back


class Pool:
    """Its owner guards it with a lock. What has become due since the last call is done first in every call."""

    def __init__(self, name: str, least: int, most: int, idle_seconds: float, clock: Clock) -> None:
        self._name, self._clock = name, clock
        self._places: dict[int, _Place] = {}  # by the number of the node
        self._state, self._changed = STEADY, clock()
        self.resize(least, most, idle_seconds)

    def resize(self, least: int, most: int, idle_seconds: float) -> None:
        self._least, self._most, self._idle_seconds = min(least, most), most, idle_seconds
        self._settle()

    def take(self, run_id: str, nodes: int, running: bool = False) -> None:
        """Give a run its nodes, idle ones first. Whether it may have them is the queue's decision."""
        now = self._settle()
        idle = sorted(number for number, place in self._places.items() if place.run_id is None)
        chosen = idle[:nodes]
        number = 0
        while len(chosen) < nodes:
            if number not in self._places:
                chosen.append(number)
            number += 1
        for each in chosen:
            self._places[each] = _Place(run_id, running, now)
        self._settle()

    def started(self, run_id: str) -> None:
        """The script of a run has started."""
        for place in self._places.values():
            if place.run_id == run_id:
                place.running = True

    def give_back(self, run_id: str) -> None:
        now = self._settle()
        for place in self._places.values():
            if place.run_id == run_id:
                place.run_id, place.running, place.since = None, False, now
        self._settle()

    def nodes(self) -> list[Node]:
        self._settle()
        return [
            Node(f"{self._name}-node-{number}", self._state_of(number), self._places[number].run_id, "127.0.0.1")
            for number in sorted(self._places)
        ]

    def status(self) -> Status:
        states = [node.state for node in self.nodes()]
        return Status(
            allocation_state=self._state,
            current_nodes=len(states),
            target_nodes=len(states) - states.count(LEAVING),
            counts={state: states.count(state) for state in NODE_STATES},
            changed_at=moment(self._changed),
        )

    def _settle(self) -> float:
        """Let idle nodes go that are due or too many, and let those come that must always be there."""
        now = self._clock()
        longest = sorted(
            (place.since, -number) for number, place in self._places.items() if place.run_id is None
        )  # of nodes that became idle together, the last one goes first
        for since, number in longest:
            due = now - since >= self._idle_seconds and len(self._places) > self._least
            if due or len(self._places) > self._most:
                del self._places[-number]
        number = 0
        while len(self._places) < self._least:
            if number not in self._places:
                self._places[number] = _Place(None, False, now)
            number += 1
        state = RESIZING if self._leaving() else STEADY
        if state != self._state:
            self._state, self._changed = state, now
        return now

    def _leaving(self) -> set[int]:
        """The nodes that are too many; a run has each of them, or it would be gone."""
        return set(sorted(self._places)[self._most :])

    def _state_of(self, number: int) -> str:
        place = self._places[number]
        if place.run_id is None:
            return IDLE
        if number in self._leaving():
            return LEAVING
        return RUNNING if place.running else PREPARING
