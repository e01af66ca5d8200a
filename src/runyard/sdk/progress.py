"""A progress bar for long transfers: in a notebook below its cell; on a terminal by rich, where it is installed."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from typing import Any, Callable, Iterator

from runyard.sdk.notebook import escape, in_kernel

WORTH_SHOWING = 8 << 20

REDRAWN_EVERY = 0.25
"""Seconds. A front end that is told more often falls behind."""


@contextlib.contextmanager
def progress(text: str, total: int) -> Iterator[Callable[[int], None]]:
    """Yields a function to be called with the number of bytes that were just transferred."""
    if total >= WORTH_SHOWING and in_kernel():
        with _below_the_cell(text, total) as moved:
            yield moved
        return
    bar = None
    if total >= WORTH_SHOWING and sys.stderr is not None and sys.stderr.isatty():
        with contextlib.suppress(ImportError):
            from rich.console import Console
            from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

            columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
            bar = Progress(*columns, console=Console(stderr=True), transient=True)
    if bar is None:
        yield lambda moved: None
        return
    with bar:
        task = bar.add_task(text, total=total)
        yield lambda moved: bar.advance(task, moved)


@contextlib.contextmanager
def _below_the_cell(text: str, total: int) -> Iterator[Callable[[int], None]]:
    """Plain HTML in one display that is updated, and empty in the end: it is no part of the saved notebook."""
    import IPython.display

    display: Any = IPython.display.display  # it has no types
    lock = threading.Lock()
    came, drawn = 0, time.monotonic()
    handle = display(_drawn(text, 0, total), raw=True, display_id=True)

    def moved(count: int) -> None:
        nonlocal came, drawn
        with lock:
            came += count
            now = time.monotonic()
            if now - drawn < REDRAWN_EVERY:
                return
            drawn = now
        handle.update(_drawn(text, came, total), raw=True)

    try:
        yield moved
    finally:
        handle.update({"text/html": "", "text/plain": ""}, raw=True)


def _drawn(text: str, came: int, total: int) -> dict[str, str]:
    words = f"{text}: {came / 1e6:,.0f} of {total / 1e6:,.0f} MB"
    bar = f'<progress value="{came}" max="{total}"></progress>'
    return {"text/html": f"<div>{bar} {escape(words)}</div>", "text/plain": words}
