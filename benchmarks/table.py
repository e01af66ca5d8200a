"""Tables of results: as aligned text for the terminal, and as Markdown between two markers of the README."""

from __future__ import annotations

import os
import platform
import re
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from benchmarks.measure import Outcome, T

BEGIN, END = "<!-- benchmarks -->", "<!-- /benchmarks -->"
NOTHING = "–"


class NoPlace(Exception):
    """The file has no place for the tables."""


@dataclass(frozen=True)
class Table:
    """One row per contender; the first column names it, the others are figures."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()


def text(table: Table) -> str:
    """The table as aligned text, the figures to the right.

    >>> print(text(Table("Speed", ("who", "time"), (("bare", "2 µs"), ("ours", "13 µs")))))
    Speed
    <BLANKLINE>
    who    time
    ----  -----
    bare   2 µs
    ours  13 µs
    """
    widths = [max(len(cell) for cell in column) for column in zip(table.columns, *table.rows, strict=True)]
    lines = [_aligned(table.columns, widths), "  ".join("-" * width for width in widths)]
    lines += [_aligned(row, widths) for row in table.rows]
    return "\n".join([table.title, "", *lines, *_after_blank(table.notes)])


def markdown(table: Table) -> str:
    lines = [_piped(table.columns), _piped(["---"] + ["--:"] * (len(table.columns) - 1))]
    lines += [_piped([cell.replace("|", "\\|") for cell in row]) for row in table.rows]
    return "\n".join([f"**{table.title}**", "", *lines, *_after_blank(table.notes)])


def fill(path: Path, tables: Sequence[Table], day: date, machine: str) -> None:
    """Put the tables between the two markers of a file: each in the place of the one with its title, or at the end."""
    before, begin, rest = path.read_text("utf-8").partition(BEGIN)
    body, end, after = rest.partition(END)
    if not begin or not end:
        raise NoPlace(f"{path} has no place for the tables: put the lines {BEGIN} and {END} where they belong.")
    blocks = [block.rstrip() + "\n" for block in re.split(r"\n(?=\*\*)", body) if block.startswith("**")]
    shown = {_title(block): block for block in blocks}
    for table in tables:
        shown[f"**{table.title}**"] = f"{markdown(table)}\n\nMeasured on {day.day} {day:%B %Y} on {machine}.\n"
    head = "Medians, with the smallest and the largest in brackets.\n"
    path.write_text("\n".join([f"{before}{begin}", head, *shown.values()]).rstrip() + f"\n{end}{after}", "utf-8")


def _title(block: str) -> str:
    return block.partition("\n")[0]


def machine() -> str:
    """This machine in a few words."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return (
        f"{os.cpu_count()} cores ({_processor()}), {memory / 2**30:.0f} GiB, "
        f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    )


def duration(seconds: float) -> str:
    """A duration in the unit that suits it.

    >>> duration(0.0000021), duration(0.0213), duration(1.5), duration(72)
    ('2.1 µs', '21 ms', '1.50 s', '72 s')
    """
    if seconds < 0.001:
        return f"{_digits(seconds * 1e6)} µs"
    if seconds < 1:
        return f"{_digits(seconds * 1e3)} ms"
    return f"{seconds:.2f} s" if seconds < 10 else f"{seconds:.0f} s"


def durations(samples: Sequence[float]) -> str:
    """The median of some durations, and their spread."""
    if len(samples) == 1:
        return duration(samples[0])
    return f"{duration(statistics.median(samples))} ({duration(min(samples))}–{duration(max(samples))})"


def rates(samples: Sequence[float]) -> str:
    """The median of some rates per second, and their spread."""
    if len(samples) == 1:
        return _rounded(samples[0])
    return f"{_rounded(statistics.median(samples))} ({_rounded(min(samples))}–{_rounded(max(samples))})"


def ratio(samples: Sequence[float], bare: Sequence[float]) -> str:
    """How many times the median of `bare` the median of `samples` is.

    >>> ratio([3.0, 3.1], [2.0]), ratio([2.0], [])
    ('1.5×', '–')
    """
    return f"{_digits(statistics.median(samples) / statistics.median(bare))}×" if bare else NOTHING


def overhead(samples: Sequence[float], bare: Sequence[float]) -> str:
    """By how much the median of `samples` is above that of `bare`.

    >>> overhead([1.5], [1.0]), overhead([0.5], [1.0]), overhead([2.0], [])
    ('+500 ms', '−500 ms', '–')
    """
    if not bare:
        return NOTHING
    more = statistics.median(samples) - statistics.median(bare)
    return f"{'+' if more >= 0 else '−'}{duration(abs(more))}"


def size(count: float) -> str:
    return f"{count / 2**20:,.0f} MiB"


def not_measured(name: str, reason: str, columns: int) -> tuple[str, ...]:
    """The row of a contender that could not be measured."""
    short = " ".join(reason.split())
    return (name, f"not measured: {short[:100]}", *[NOTHING] * (columns - 2))


def rows(
    outcomes: Mapping[str, Outcome[T]],
    columns: int,
    row: Callable[[str, list[T]], tuple[str, ...]],
    missing: Mapping[str, str] | None = None,
) -> tuple[tuple[str, ...], ...]:
    """A row for each contender, which `row` makes of its samples; `missing` are those that are not there, and why."""
    found = [
        not_measured(name, each.failure, columns) if each.failure else row(name, each.samples)
        for name, each in outcomes.items()
    ]
    return (*found, *(not_measured(name, reason, columns) for name, reason in (missing or {}).items()))


def _digits(value: float) -> str:
    return f"{value:.1f}" if value < 10 else f"{value:,.0f}"


def _rounded(rate: float) -> str:
    return _digits(round(rate, -3) if rate >= 10_000 else rate)


def _aligned(cells: Sequence[str], widths: Sequence[int]) -> str:
    first = cells[0].ljust(widths[0])
    return "  ".join([first, *(cell.rjust(width) for cell, width in zip(cells[1:], widths[1:], strict=True))]).rstrip()


def _piped(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _after_blank(notes: Sequence[str]) -> list[str]:
    return ["", "  \n".join(notes)] if notes else []


def _processor() -> str:
    try:
        said = Path("/proc/cpuinfo").read_text("utf-8")
    except OSError:
        return platform.processor() or "unknown processor"
    names = [line.partition(":")[2].strip() for line in said.splitlines() if line.startswith("model name")]
    return names[0] if names else platform.machine()
