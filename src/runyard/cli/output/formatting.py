"""How sizes, times, metric values and commands to copy read on a screen. No terminal, no network."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Sequence
from datetime import datetime, timezone

MINUTE, HOUR, DAY = 60, 3600, 86400


def size(count: int) -> str:
    """A number of bytes for people.

    >>> size(999), size(1_500), size(2_340_000)
    ('999 B', '1.5 kB', '2.3 MB')
    """
    amount = float(count)
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if amount < 999.95 or unit == "TB":
            break
        amount /= 1000
    return f"{count} B" if unit == "B" else f"{amount:.1f} {unit}"


def duration(seconds: float) -> str:
    """A length of time in its two largest units.

    >>> duration(0.42), duration(75), duration(7_380)
    ('0.4 s', '1 min 15 s', '2 h 3 min')
    """
    if seconds < 10:
        return f"{max(seconds, 0):.1f} s"
    whole = round(seconds)
    if whole < MINUTE:
        return f"{whole} s"
    if whole < HOUR:
        return _pair(whole, MINUTE, "min", 1, "s")
    if whole < DAY:
        return _pair(whole, HOUR, "h", MINUTE, "min")
    return _pair(whole, DAY, "d", HOUR, "h")


def _pair(seconds: int, large: int, large_name: str, small: int, small_name: str) -> str:
    rest = seconds % large // small
    return f"{seconds // large} {large_name}" + (f" {rest} {small_name}" if rest else "")


def moment(text: str) -> datetime:
    """A time as the server writes it."""
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def ago(then: datetime, now: datetime | None = None) -> str:
    """How long ago, in one unit: what a list has room for."""
    seconds = ((now or datetime.now(timezone.utc)) - then).total_seconds()
    if seconds < 2:
        return "just now"
    for length, name in ((DAY, "d"), (HOUR, "h"), (MINUTE, "min")):
        if seconds >= length:
            return f"{int(seconds // length)} {name} ago"
    return f"{int(seconds)} s ago"


def local(then: datetime) -> str:
    """A time on the user's own clock."""
    return then.astimezone().strftime("%Y-%m-%d %H:%M:%S")


def lasted(started: str | None, ended: str | None, now: datetime | None = None) -> str:
    """How long something took, or has taken so far; empty when it has not begun."""
    if started is None:
        return ""
    end = moment(ended) if ended else now or datetime.now(timezone.utc)
    return duration((end - moment(started)).total_seconds())


def number(value: object) -> str:
    """A value of a metric, short.

    >>> number(0.1234567), number(3), number(float("nan")), number("text")
    ('0.123457', '3', 'nan', 'text')
    """
    if isinstance(value, float):
        return f"{value:.6g}" if math.isfinite(value) else repr(value)
    return str(value)


def count(amount: int, noun: str) -> str:
    """
    >>> count(1, "run"), count(12_000, "run")
    ('1 run', '12,000 runs')
    """
    return f"{amount:,} {noun}" if amount == 1 else f"{amount:,} {noun}s"


def ranges(numbers: Sequence[int]) -> str:
    """Numbers in ascending order, short.

    >>> ranges([0, 1, 2, 5, 7, 8])
    '0-2, 5, 7-8'
    """
    spans: list[list[int]] = []
    for each in numbers:
        if spans and each == spans[-1][-1] + 1:
            spans[-1] = [spans[-1][0], each]
        else:
            spans.append([each])
    return ", ".join("-".join(map(str, span)) for span in spans)


def program() -> str:
    """How this command can be called again: by its name when the shell finds it, else by the path that was typed."""
    typed = sys.argv[0]
    if os.path.basename(typed) != "runyard":
        return "runyard"
    from shutil import which

    found = which("runyard")
    return "runyard" if found and os.path.realpath(found) == os.path.realpath(typed) else typed
