"""When the server looks for garbage: often among what is young, seldom among all that lives.

Every live run has a response that is held, and Python's collector goes through all of them whenever a quarter of what
lives is new: with 5,000 live runs every two seconds, for a third of a second in which no thread runs. What becomes
garbage is nearly always young, or freed without the collector.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import time

log = logging.getLogger("runyard.server")

YOUNG = (2_000, 20)
"""New objects between two looks at the youngest ones, and such looks between two at those that outlived one."""

NEVER = 2**31 - 1

EVERY = 600.0
"""Seconds between two looks at all that lives."""


def collect_young() -> None:
    """Let Python look among young objects by itself, and nowhere else."""
    gc.set_threshold(*YOUNG, NEVER)


async def collect_seldom() -> None:
    """Look at everything now and then, until this is cancelled."""
    while True:
        await asyncio.sleep(EVERY)
        began = time.monotonic()
        found = gc.collect()
        log.debug("garbage: %d objects, looked for in %.3f s", found, time.monotonic() - began)
