"""News of runs, from whichever thread has them to the event streams that wait for them.

A stream that reads slowly costs no memory: of a file only the latest size is stored, and one that falls behind too far
is ended, since whoever connects again gets the present state first.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from runyard.store.runs.runs import StateChange

_WAITING = 10_000
"""How much news may wait for one stream."""

_NAMED = 1000
"""How many runs one event of changes names: whoever gets as many looks anew at all it shows."""


@dataclass(frozen=True)
class News:
    """What has happened since the last look. `over`: nothing more will come. `metrics`: some were logged."""

    files: dict[str, int]
    states: list[StateChange]
    over: bool = False
    metrics: bool = False


@dataclass(eq=False)
class Subscription:
    """One stream's view of one run. Filled from any thread, emptied on the event loop."""

    _lock: threading.Lock
    _loop: asyncio.AbstractEventLoop
    _ready: asyncio.Event = field(default_factory=asyncio.Event)
    _files: dict[str, int] = field(default_factory=dict)
    _states: list[StateChange] = field(default_factory=list)
    _over: bool = False
    _metrics: bool = False
    _rung: bool = False

    async def news(self, timeout: float) -> News | None:
        """What is new, as soon as there is something; None when nothing happens for `timeout` seconds."""
        try:
            await asyncio.wait_for(self._ready.wait(), timeout)
        except asyncio.TimeoutError:
            return None
        with self._lock:
            news = News(self._files, self._states, self._over, self._metrics)
            self._files, self._states, self._rung, self._metrics = {}, [], False, False
            self._ready.clear()
        return news

    def add(
        self,
        file: tuple[str, int] | None = None,
        state: StateChange | None = None,
        over: bool = False,
        metrics: bool = False,
    ) -> None:
        """Store a piece of news. The caller holds the lock."""
        if file is not None:
            self._files[file[0]] = file[1]
        if state is not None:
            self._states.append(state)
        self._metrics = self._metrics or metrics
        self._over = self._over or over or len(self._files) + len(self._states) > _WAITING
        if not self._rung:
            self._rung = True
            self._loop.call_soon_threadsafe(self._ready.set)


@dataclass(eq=False)
class Changes:
    """What one stream has yet to be told of all runs: which have another state or are new, and which have delivered
    something. Filled from any thread, emptied on the event loop."""

    _lock: threading.Lock
    _loop: asyncio.AbstractEventLoop
    _ready: asyncio.Event = field(default_factory=asyncio.Event)
    _changed: set[str] = field(default_factory=set)
    _delivered: set[str] = field(default_factory=set)
    over: bool = False

    async def next(self, timeout: float) -> tuple[list[str], list[str]] | None:
        """Both, as soon as there is something; None when nothing happens for `timeout` seconds."""
        try:
            await asyncio.wait_for(self._ready.wait(), timeout)
        except asyncio.TimeoutError:
            return None
        with self._lock:
            found = sorted(self._changed)[:_NAMED], sorted(self._delivered)[:_NAMED]
            self._changed.clear()
            self._delivered.clear()
            self._ready.clear()
        return found

    def add(self, run_id: str, changed: bool) -> None:
        """The caller holds the lock."""
        known = self._changed if changed else self._delivered
        if len(known) < _WAITING:
            known.add(run_id)
        self.ring()

    def ring(self) -> None:
        self._loop.call_soon_threadsafe(self._ready.set)


class Live:
    """Who waits for news of which run."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._subscriptions: dict[str, list[Subscription]] = {}
        self._changes: list[Changes] = []
        self._closed = False
        self.on_subscribe: Callable[[str], None] = lambda run_id: None
        self.on_close: Callable[[], None] = lambda: None

    def __contains__(self, run_id: str) -> bool:
        """Whether a stream of this run is open."""
        return run_id in self._subscriptions

    def state(self, run_id: str, change: StateChange) -> None:
        """A run has changed its state."""
        self.touch(run_id)
        if run_id not in self._subscriptions:  # most runs: not worth the lock that all of them share
            return
        with self._lock:
            for each in self._subscriptions.get(run_id, ()):
                each.add(state=change)

    def file(self, run_id: str, name: str, size: int) -> None:
        """A log has grown, or a file has come."""
        if run_id not in self._subscriptions:
            return
        with self._lock:
            for each in self._subscriptions.get(run_id, ()):
                each.add(file=(name, size))

    def metrics(self, run_id: str) -> None:
        """Lines of a journal were stored: there may be new points."""
        if run_id not in self._subscriptions:
            return
        with self._lock:
            for each in self._subscriptions.get(run_id, ()):
                each.add(metrics=True)

    def touch(self, run_id: str, changed: bool = True) -> None:
        """A run is new, has changed or is gone; else it has delivered something."""
        if not self._changes:  # nobody looks at a list of runs
            return
        with self._lock:
            for each in self._changes:
                each.add(run_id, changed)

    @contextmanager
    def changes(self) -> Iterator[Changes]:
        """What happens to any run from now on. To be called on the event loop that reads it."""
        found = Changes(self._lock, asyncio.get_running_loop(), over=self._closed)
        with self._lock:
            self._changes.append(found)
        try:
            yield found
        finally:
            with self._lock:
                self._changes.remove(found)

    @contextmanager
    def subscribe(self, run_id: str) -> Iterator[Subscription]:
        """News of a run from now on. To be called on the event loop that reads them."""
        subscription = Subscription(self._lock, asyncio.get_running_loop())
        with self._lock:
            if self._closed:
                subscription.add(over=True)
            self._subscriptions.setdefault(run_id, []).append(subscription)
        self.on_subscribe(run_id)
        try:
            yield subscription
        finally:
            with self._lock:
                self._subscriptions[run_id].remove(subscription)
                if not self._subscriptions[run_id]:
                    del self._subscriptions[run_id]

    def close(self) -> None:
        """End every stream, and those that still come: the server is about to stop."""
        with self._lock:
            self._closed = True
            for waiting in self._subscriptions.values():
                for each in waiting:
                    each.add(over=True)
            for stream in self._changes:
                stream.over = True
                stream.ring()
        self.on_close()

    def __len__(self) -> int:
        with self._lock:
            return sum(len(waiting) for waiting in self._subscriptions.values())
