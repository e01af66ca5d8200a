"""If these fail, reads wait behind requests that wait for the database's write lock, or behind busy threads."""

from __future__ import annotations

import asyncio
import sys
import threading

from starlette.concurrency import run_in_threadpool

from runyard.server.threads import LONGEST_TURN, WRITERS, in_writer_thread, take_short_turns


def test_reads_have_threads_while_every_writer_waits() -> None:
    async def both() -> list[int]:
        gate = threading.Event()
        waiting = [asyncio.ensure_future(in_writer_thread(gate.wait, 60)) for _ in range(5 * WRITERS)]
        await asyncio.sleep(0.01)
        read = [await run_in_threadpool(lambda number=number: number) for number in range(3)]  # type: ignore[misc]
        gate.set()
        assert all(await asyncio.gather(*waiting))
        return read

    assert asyncio.run(both()) == [0, 1, 2]


def test_threads_take_shorter_turns_than_python_gives_them() -> None:
    before = sys.getswitchinterval()
    try:
        take_short_turns()
        assert sys.getswitchinterval() == LONGEST_TURN < before
    finally:
        sys.setswitchinterval(before)
