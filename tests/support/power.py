"""Ending processes as a power cut does: all in one moment, so that none lives to see or to tell how another ended."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable

import psutil


def cut(processes: Iterable[psutil.Process]) -> None:
    """Kill processes and all below them."""
    doomed: dict[int, psutil.Process] = {}
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            for one in (process, *process.children(recursive=True)):
                one.suspend()
                doomed[one.pid] = one
    for one in doomed.values():
        with contextlib.suppress(psutil.NoSuchProcess):
            one.kill()
