"""How often the reporters of runs deliver: the server says so in each receipt.

Nothing is lost by waiting, since it is on the disk of the node. So a run that nobody looks at delivers every few
seconds, and its reporter waits for the end of a held response meanwhile. As soon as somebody looks at the run, that
response is ended, and the reporter delivers as things happen.

A delivery costs the server much less when it is stored together with others. So each run has its turn, which follows
from its id: few runs have the same one, and many are spread over the whole period, even if all of them began in the
same moment.

For the event loop's thread alone, but for `notice`.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from math import ceil
from zlib import crc32

from runyard.server.live import Live

EVERY = 4.4
"""Seconds from one delivery to the next of a run that nobody watches: the oldest byte of one is below 5 s old."""

QUIET = 42.0
"""The same for a run that has nothing to deliver: its deliveries are heartbeats, and have to come every 60 s."""

HEARTBEATS = 10
"""How many of them there are a second at most, where the reporters have the patience for it: more runs wait longer."""

BEAT = 2.0
"""Seconds to whose multiples heartbeats are put off, so that those of runs with different periods come together too:
to store twenty of them costs about as much as to store one."""

SOONEST = 0.1
"""The part of such a period that has to be left until a run's turn; else it is the one after that."""

TOGETHER = 32
"""How many runs have their turn together: nobody waits behind more of them."""

WATCHED = 10.0
"""Seconds for which somebody who has read something of a run counts as watching it."""

TICK = 0.02
"""Seconds to which the ends of held responses are rounded: those that end together have one timer."""

PATIENCE = 0.25
"""Seconds that a read waits at most for what the run has to deliver."""


class Held:
    """A response that is held: it is in `of_runs` until it ends."""

    __slots__ = ("_ended", "_of_runs", "_run_id")

    def __init__(self, of_runs: dict[str, set[Held]], run_id: str, ended: Callable[[bool], None]) -> None:
        self._of_runs, self._run_id = of_runs, run_id
        self._ended: Callable[[bool], None] | None = ended
        of_runs.setdefault(run_id, set()).add(self)

    @property
    def is_open(self) -> bool:
        return self._ended is not None

    def end(self, come: bool) -> None:
        """It ends now, unless it has."""
        ended, self._ended = self._ended, None
        if ended is None:
            return
        of_run = self._of_runs[self._run_id]
        of_run.discard(self)
        if not of_run:
            del self._of_runs[self._run_id]
        ended(come)


class Pace:
    """Which runs are watched, and whose responses are held. `count` gives the number of live runs, `judged`
    tells whether a sweep waits for what a run logs."""

    def __init__(
        self, live: Live, count: Callable[[], int], judged: Callable[[str], bool] = lambda run_id: False
    ) -> None:
        self._live = live
        self._judged = judged
        self._count = count
        self._loop = asyncio.get_running_loop()
        self._read: OrderedDict[str, float] = OrderedDict()  # when each run was last read, the earliest first
        self._held: dict[str, set[Held]] = {}
        self._due: dict[int, list[Held]] = {}  # by the tick at which they end
        self._expected: dict[str, list[asyncio.Future[None]]] = {}  # reads that wait for a delivery
        self.closed = False
        live.on_subscribe = self._come
        live.on_close = self.close

    def is_watched(self, run_id: str) -> bool:
        """Whether a stream of the run is open, or somebody has read something of it in the last seconds, or a sweep
        judges it by what it logs."""
        return run_id in self._live or self._was_read(run_id) or self._judged(run_id)

    def seconds(self, run_id: str) -> float:
        """How long the reporter of a run may let new bytes wait."""
        return 0.0 if self.is_watched(run_id) else self._until_turn(run_id, EVERY)

    def quiet_seconds(self, run_id: str, patience: float = 0.0) -> float:
        """How long it may stay away when it has no new bytes, and agrees to wait for so many seconds."""
        count = self._count()
        period = max(QUIET, min(count / HEARTBEATS, (patience - BEAT) / (1 + SOONEST)))
        beat = BEAT / _doubled(count * BEAT / period)
        left = self._until_turn(run_id, period)
        return round(left + -(self._loop.time() + left) % beat, 3)

    async def hold(self, run_id: str, seconds: float, lost: Callable[[Callable[[], None] | None], None]) -> bool:
        """Wait for so many seconds, or until somebody watches the run: whether that is so. `lost` is given what to call
        when the client leaves."""
        ended: asyncio.Future[bool] = self._loop.create_future()
        held = self.hold_open(run_id, seconds, lambda come: None if ended.done() else ended.set_result(come))
        lost(lambda: held.end(False))
        try:
            return await ended
        finally:
            lost(None)
            held.end(False)

    def hold_open(self, run_id: str, seconds: float, ended: Callable[[bool], None]) -> Held:
        """The same without waiting: `ended` is told whether somebody watches the run."""
        held = Held(self._held, run_id, ended)
        if self.closed:
            held.end(False)
            return held
        moment = ceil((self._loop.time() + seconds) / TICK)
        due = self._due.get(moment)
        if due is None:
            due = self._due[moment] = []
            self._loop.call_at(moment * TICK, self._end_due, moment)
        due.append(held)
        return held

    def _end_due(self, moment: int) -> None:
        for held in self._due.pop(moment):
            held.end(False)

    def delivered(self, run_id: str) -> None:
        """A delivery of a run is stored: whoever waits for it may read."""
        self._live.touch(run_id, changed=False)
        for waiting in self._expected.pop(run_id, ()):
            if not waiting.done():
                waiting.set_result(None)

    async def look(self, run_id: str) -> None:
        """Somebody reads something of a run: if it was not watched so far, have what it has now delivered first."""
        was_watched = self.is_watched(run_id)
        self._note(run_id)
        if was_watched or run_id not in self._held:
            return
        waiting: asyncio.Future[None] = self._loop.create_future()
        self._expected.setdefault(run_id, []).append(waiting)
        self._come(run_id)
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(waiting, PATIENCE)

    def notice(self, run_ids: Iterable[str]) -> None:
        """Somebody reads something of these runs, and does not wait. May be called from any thread."""
        with contextlib.suppress(RuntimeError):  # the loop is closed: the server has stopped
            self._loop.call_soon_threadsafe(self._notice, list(run_ids))

    def close(self) -> None:
        """End every held response, and hold no more: the server is about to stop."""
        self.closed = True
        for of_run in list(self._held.values()):
            for held in list(of_run):
                held.end(False)

    def __len__(self) -> int:
        """How many responses are held."""
        return sum(map(len, self._held.values()))

    def _until_turn(self, run_id: str, period: float) -> float:
        turns = _doubled(self._count())
        turn = crc32(run_id.encode("utf-8", "surrogatepass")) * turns >> 32
        left = (turn / turns * period - self._loop.time()) % period
        return round(left if left >= SOONEST * period else left + period, 3)

    def _notice(self, run_ids: Iterable[str]) -> None:
        for run_id in run_ids:
            self._note(run_id)
            self._come(run_id)

    def _note(self, run_id: str) -> None:
        now = time.monotonic()
        self._read[run_id] = now
        self._read.move_to_end(run_id)
        while next(iter(self._read.values())) < now - WATCHED:
            self._read.popitem(last=False)

    def _was_read(self, run_id: str) -> bool:
        at = self._read.get(run_id)
        return at is not None and at >= time.monotonic() - WATCHED

    def _come(self, run_id: str) -> None:
        """Let the reporter of a run deliver now."""
        for held in list(self._held.get(run_id, ())):
            held.end(True)


def _doubled(runs: float) -> int:
    """In how many parts so many runs are to come. A power of two, so that a run has its turn at about the same time
    when there are more of them."""
    return 1 << (max(1, int(runs) // TOGETHER) - 1).bit_length()
