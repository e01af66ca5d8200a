"""A progress bar on standard error for long transfers: drawn by rich where it is installed and on a terminal."""

from __future__ import annotations

import contextlib
import sys
from typing import Callable, Iterator

WORTH_SHOWING = 8 << 20


@contextlib.contextmanager
def progress(text: str, total: int) -> Iterator[Callable[[int], None]]:
    """Yields a function to be called with the number of bytes that were just transferred."""
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
