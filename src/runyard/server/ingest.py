"""The way of deliveries into the store: those that arrive together are stored in one transaction, by one thread.

Nobody else's work is in that thread, so reads do not wait for it, and it waits for none of them. A transaction costs
much the same for one delivery as for fifty. So what nobody waits for lingers a moment before it is stored, and a little
longer where many come: by then there are more. What comes from a run that somebody watches is stored at once, and
everything else with it.
"""

from __future__ import annotations

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor

from starlette.concurrency import run_in_threadpool

from runyard.contracts.delivery import Part
from runyard.server.threads import in_writer_thread
from runyard.store.errors import StoreError
from runyard.store.intake import LARGE, Intake, Parcel, Taken
from runyard.store.store import Store

log = logging.getLogger("runyard.server")

LINGER = 0.02
"""Seconds that a parcel waits for others, unless it is to be stored at once."""

BUSY = 100
"""Parcels in a second from which on groups are gathered."""

GATHER = 0.04
"""Seconds from one group to the next then."""

MOST_PARCELS = 500
MOST_BYTES = 4 << 20
"""How much a group has at most: others that write wait for it."""


class Ingest:
    """For the event loop's thread alone."""

    def __init__(self, intake: Intake) -> None:
        self._intake = intake
        self._loop = asyncio.get_running_loop()
        self._thread = ThreadPoolExecutor(1, "ingest")
        self._waiting: list[tuple[Parcel, asyncio.Future[None]]] = []
        self._timer: asyncio.TimerHandle | None = None
        self._busy = False
        self._hurry = False  # whether somebody watches one of the runs that wait
        self._next = 0.0  # when the next group may begin
        self._second, self._came, self._came_before = 0, 0, 0  # parcels of this second, and of the one before

    @classmethod
    async def open(cls, store: Store) -> Ingest:
        return cls(await run_in_threadpool(Intake, store))

    async def take(self, parcel: Parcel, at_once: bool = False) -> None:
        """Return when a parcel is stored, with its answers in it. Raises what concerns the whole of it."""
        if parcel.size > LARGE:
            await in_writer_thread(self._intake.take_alone, parcel)
        else:
            stored: asyncio.Future[None] = self._loop.create_future()
            self._waiting.append((parcel, stored))
            self._hurry = self._hurry or at_once
            self._count()
            self._plan()
            await stored
        if parcel.error is not None:
            raise parcel.error

    async def take_part(self, run_id: str, part: Part, attempt: int | None = None) -> Taken:
        """Store one part, at once: its sender has the next one ready. Raises why it is refused."""
        parcel = Parcel(run_id, [part], attempt)
        await self.take(parcel, at_once=True)
        (answer,) = parcel.answers
        if isinstance(answer, StoreError):
            raise answer
        return answer

    async def ended(self, parcel: Parcel) -> None:
        """The run of a parcel has ended."""
        if self._intake.has_staged(parcel):
            await in_writer_thread(self._intake.ended, parcel)

    async def close(self) -> None:
        """Store what waits, and end."""
        while self._waiting or self._busy:
            self._hurry = True
            self._plan()
            await asyncio.sleep(0.001)
        if self._timer is not None:
            self._timer.cancel()
        await run_in_threadpool(self._thread.shutdown)

    def _count(self) -> None:
        second = int(self._loop.time())
        if second != self._second:
            self._came_before = self._came if second == self._second + 1 else 0
            self._second, self._came = second, 0
        self._came += 1

    def _plan(self) -> None:
        """Have the next group begin when it is due."""
        if self._busy or not self._waiting:
            return
        if self._hurry:
            self._begin()
        elif self._timer is None:
            self._timer = self._loop.call_later(max(LINGER, self._next - self._loop.time()), self._begin)

    def _begin(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._busy or not self._waiting:
            return
        count, size = 0, 0
        for parcel, _ in self._waiting[:MOST_PARCELS]:
            size += parcel.size
            if count and size > MOST_BYTES:
                break
            count += 1
        group, self._waiting = self._waiting[:count], self._waiting[count:]
        self._busy, self._hurry = True, False
        if max(self._came, self._came_before) > BUSY:
            self._next = self._loop.time() + GATHER
        self._thread.submit(self._store, group)

    def _store(self, group: list[tuple[Parcel, asyncio.Future[None]]]) -> None:
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

    def _stored(self, group: list[tuple[Parcel, asyncio.Future[None]]]) -> None:
        self._busy = False
        for _, stored in group:
            if not stored.done():
                stored.set_result(None)
        self._plan()
