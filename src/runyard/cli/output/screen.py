"""What goes to standard output: tables, coloured statuses, spinners, or JSON.

On a terminal it is drawn with rich. In a pipe it is plain text with aligned columns and nothing cut off, and rich is
not even loaded. What rich draws goes past `runyard.cli.output.terminal`: it is handed readable text only.
"""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from runyard.cli.output.terminal import readable_line, style
from runyard.contracts import states

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

GAP = 2
"""Characters between two columns."""

BESIDE = 24
"""Characters of a last column that stays beside the others on a narrow terminal."""

NARROWEST = 4

COLOURS = {
    states.COMPLETED: "green",
    states.FAILED: "red",
    states.CANCELED: "yellow",
    states.CANCEL_REQUESTED: "yellow",
    states.NOT_RESPONDING: "magenta",
    states.RUNNING: "cyan",
    states.FINALIZING: "cyan",
    "Healthy": "green",
    "Unhealthy": "red",
    "Succeeded": "green",
    "ready": "green",
    "unhealthy": "red",
}


def is_terminal() -> bool:
    return sys.stdout.isatty()


def console() -> Console:
    from rich.console import Console

    return Console(highlight=False)


def status_colour(status: str) -> str:
    return COLOURS.get(status, "blue")


def status(name: str) -> str:
    """A status in its colour; plain where colours do not belong."""
    return style(name, fg=status_colour(name))


def heading(text: str) -> str:
    return style(text, bold=True)


def document(value: object) -> None:
    """Print one JSON document."""
    print(json.dumps(value, indent=2, ensure_ascii=False))


def event(value: object) -> None:
    """Print one JSON line of a stream, at once."""
    print(json.dumps(value, ensure_ascii=False), flush=True)


def table(columns: Sequence[str], rows: Sequence[Sequence[str]], status_column: int | None = None) -> None:
    """Print rows under their headings. The first column is never cut."""
    columns, *rows = [[readable_line(cell) for cell in row] for row in (columns, *rows)]
    if is_terminal():
        _drawn(columns, rows, status_column)
        return
    widths = [
        max(len(column), *(len(row[i]) for row in rows)) if rows else len(column) for i, column in enumerate(columns)
    ]
    for row in (columns, *rows):
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def _drawn(columns: Sequence[str], rows: Sequence[Sequence[str]], status_column: int | None) -> None:
    """Where the table is too wide, the last column, if it is text, comes below the rows: beside them it would be a
    word wide and many lines long."""
    from rich.cells import cell_len

    screen = console()
    widths = [max(map(cell_len, cells)) for cells in zip(columns, *rows, strict=True)]
    if sum(widths) + GAP * (len(widths) - 1) <= screen.width or widths[-1] <= BESIDE or len(widths) < 3:
        screen.print(_lines(columns, rows, status_column))
        return
    kept = (0, status_column)
    widths = _narrowed(widths[:-1], kept, screen.width)
    screen.print(_lines(columns[:-1], [], status_column, widths))
    for *cells, text in rows:
        screen.print(_lines(columns[:-1], [cells], status_column, widths, heading=False))
        if text:
            from rich.padding import Padding

            screen.print(Padding(text, (0, 0, 0, 2)), markup=False)


def _lines(
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    status_column: int | None,
    widths: Sequence[int] | None = None,
    heading: bool = True,
) -> Table:
    from rich.table import Table
    from rich.text import Text

    drawn = Table(box=None, pad_edge=False, header_style="bold", padding=(0, GAP, 0, 0), show_header=heading)
    for i, column in enumerate(columns):
        width = None if widths is None else widths[i]
        drawn.add_column(column, no_wrap=i in (0, status_column), overflow="fold", width=width)
    for row in rows:
        cells = [Text(cell) for cell in row]
        if status_column is not None:
            cells[status_column].stylize(status_colour(row[status_column]))
        drawn.add_row(*cells)
    return drawn


def _narrowed(widths: Sequence[int], kept: Sequence[int | None], room: int) -> list[int]:
    """Widths of columns that fit, the widest narrowed first, apart from those that are kept.

    >>> _narrowed([10, 8, 6], [0], 24)
    [10, 5, 5]
    """
    found = list(widths)
    while sum(found) + GAP * (len(found) - 1) > room:
        widest = max((i for i in range(len(found)) if i not in kept), key=lambda i: found[i], default=0)
        if widest in kept or found[widest] <= NARROWEST:
            break
        found[widest] -= 1
    return found


@contextlib.contextmanager
def spinner(text: str) -> Iterator[None]:
    """Show that something is going on. Silent in a pipe."""
    if is_terminal():
        from rich.text import Text

        with console().status(Text(readable_line(text))):
            yield
    else:
        yield


@contextlib.contextmanager
def progress(text: str) -> Iterator[Callable[[float], None]]:
    """Gives a function that shows which part of something is done. Silent in a pipe."""
    if not is_terminal():
        yield lambda part: None
        return
    from rich.text import Text

    with console().status(Text(readable_line(text))) as status:
        yield lambda part: status.update(Text(readable_line(f"{text}: {part:.0%}")))
