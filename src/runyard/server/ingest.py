"""The way of deliveries into the store: those that arrive together are stored in one transaction, by one thread.

Nobody else's work is in that thread, so reads do not wait for it, and it waits for none of them. A transaction costs
much the same for one delivery as for fifty. So what nobody waits for lingers a moment before it is stored: by then
there is more. What comes from a run that somebody watches is in the next group that is stored, which begins at once;
no group is so long that this would be noticed.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from starlette.concurrency import run_in_threadpool

from runyard.contracts.delivery import JournalPart, Part
from runyard.server.threads import in_writer_thread
from runyard.store.errors import StoreError
from runyard.store.intake import LARGE, Intake, Logs, Parcel, Taken
from runyard.store.store import Store

log = logging.getLogger("runyard.server")

LINGER = 0.1
"""Seconds that a parcel waits for others, unless it is to be stored at once."""

MOST_PARCELS = 50
MOST_BYTES = 4 << 20
"""How much a group has at most: whoever is watched waits for it, and so do others that write."""

BESIDE = 8
"""How many parcels that nobody waits for are in a group with one that somebody does."""

OnJournal = Callable[[str, str, int, bytes], None]
"""Is called with lines of a journal that were stored: its run, its writer, and where they begin."""

Waiting = tuple[Parcel, Callable[[], None]]
"""A parcel, and what is called when it is stored."""


class Ingest:
    """For the event loop's thread alone."""

    def __init__(self, intake: Intake) -> None:
        self._intake = intake
        self._loop = asyncio.get_running_loop()
        self._thread = ThreadPoolExecutor(1, "ingest")
        self._urgent: deque[Waiting] = deque()  # of runs that somebody watches
        self._others: deque[Waiting] = deque()
        self._timer: asyncio.TimerHandle | None = None
        self._busy = False
        self.on_journal: OnJournal = lambda run_id, writer, offset, data: None

    @classmethod
    async def open(cls, store: Store) -> Ingest:
        return cls(await run_in_threadpool(Intake, store))

    async def take(self, parcel: Parcel, at_once: bool = False) -> None:
        """Return when a parcel is stored, with its answers in it. Raises what concerns the whole of it."""
        if parcel.size > LARGE:
            await in_writer_thread(self._intake.take_alone, parcel)
            self._tell(parcel)
        else:
            stored: asyncio.Future[None] = self._loop.create_future()
            self.put(parcel, at_once, lambda: None if stored.done() else stored.set_result(None))
            await stored
        if parcel.error is not None:
            raise parcel.error

    def put(self, parcel: Parcel, at_once: bool, stored: Callable[[], None]) -> None:
        """Have a parcel stored that is not large. `stored` is called then, and may raise nothing."""
        (self._urgent if at_once else self._others).append((parcel, stored))
        self._plan()

    async def take_part(self, run_id: str, part: Part, attempt: int | None = None) -> Taken:
        """Store one part, at once: its sender has the next one ready. Raises why it is refused."""
        parcel = Parcel(run_id, [part], attempt)
        await self.take(parcel, at_once=True)
        (answer,) = parcel.answers
        if isinstance(answer, StoreError):
            raise answer
        return answer

    def whole_logs(self, parcel: Parcel) -> Logs | None:
        """The logs of a parcel as objects, where it has nothing but logs that nobody has begun. For any thread."""
        return self._intake.whole_logs(parcel)

    async def ended(self, parcel: Parcel) -> None:
        """The run of a parcel has ended."""
        if self._intake.has_staged(parcel):
            await in_writer_thread(self._intake.ended, parcel)

    async def close(self) -> None:
        """Store what waits, and end."""
        while self._urgent or self._others or self._busy:
            self._begin()
            await asyncio.sleep(0.001)
        if self._timer is not None:
            self._timer.cancel()
        await run_in_threadpool(self._thread.shutdown)

    def _plan(self) -> None:
        """Have the next group begin when it is due."""
        if self._urgent or len(self._others) >= MOST_PARCELS:
            self._begin()
        elif self._others and self._timer is None and not self._busy:
            self._timer = self._loop.call_later(LINGER, self._begin)

    def _begin(self) -> None:
        if self._busy or not (self._urgent or self._others):
            return
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        group: list[Waiting] = []
        size = 0
        most = min(MOST_PARCELS, len(self._urgent) + BESIDE) if self._urgent else MOST_PARCELS
        while (queue := self._urgent or self._others) and len(group) < most:
            size += queue[0][0].size
            if group and size > MOST_BYTES:
                break
            group.append(queue.popleft())
        self._busy = True
        self._thread.submit(self._store, group)

    def _store(self, group: list[Waiting]) -> None:
        """In the thread."""
        try:
            self._intake.take([parcel for parcel, _ in group])
        except Exception as error:  # noqa: BLE001 - raised again where each parcel came from
            for parcel, _ in group:
                parcel.error = error
        self._loop.call_soon_threadsafe(self._stored, group)
        try:
            self._intake.fold_due()
        except StoreError as error:  # nothing is lost: they are staged
            log.warning("staged lines could not be made into points: %s", error)

    def _stored(self, group: list[Waiting]) -> None:
        self._busy = False
        self._plan()
        for parcel, stored in group:
            self._tell(parcel)
            stored()

    def _tell(self, parcel: Parcel) -> None:
        """Of the journals of a parcel that is stored. It has its receipt whatever becomes of that, and so have the
        others of its group."""
        if parcel.error is not None:
            return
        for part, answer in zip(parcel.parts, parcel.answers, strict=True):
            if isinstance(part, JournalPart) and isinstance(answer, Taken):
                try:
                    self.on_journal(part.run_id or parcel.run_id, part.writer, part.offset, part.data)
                except Exception:
                    log.exception("lines of %s were stored, but not passed on", parcel.run_id)
