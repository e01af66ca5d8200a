"""Patterns of paths as regular expressions that take their time whatever the pattern: `*` and `?` do not cross a `/`,
and `**` does.

Between two wildcards the first place that fits is as good as any later one. So it is looked for once, in a group that
is not gone back into (a lookahead and a reference to it): without that, a dozen wildcards and one long name take hours.
"""

from __future__ import annotations

import re
from typing import Callable, Pattern

MOST_WILDCARDS = 2
"""Of one kind in a row, up to which going back costs nothing and groups do."""


def compiled(pattern: str) -> Pattern[str]:
    """The expression of a pattern without a leading or trailing slash; `fullmatch` a path with it.

    >>> fits = compiled("d/**/*.csv").fullmatch
    >>> bool(fits("d/a.csv")), bool(fits("d/sub/deep/c.csv")), bool(fits("d/a.txt"))
    (True, True, False)
    """
    groups = 0

    def once(lazily: str, what: str) -> str:
        nonlocal groups
        groups += 1
        return f"(?=(?P<g{groups}>{lazily}{what}))(?P=g{groups})"

    runs: list[list[str]] = [[]]  # the parts between one `**` and the next
    for part in pattern.split("/"):
        if part == "**":
            runs.append([])
        else:
            runs[-1].append(part)
    open_end = not runs[-1]
    if open_end:
        runs.pop()
    made = ""
    for number, run in enumerate(runs):
        last = number == len(runs) - 1 and not open_end
        if not run:  # `**` follows on `**`, or is the first
            continue
        parts = "/".join(_part(part, once) for part in run) + ("" if last else "/")
        if not number:
            made += parts
        elif last or (number == len(runs) - 1 and len(runs) <= MOST_WILDCARDS):
            made += "(?:.+/)?" + parts
        else:
            made += once("(?:.+?/)??", parts)
    return re.compile(made + (".+" if open_end else ""), re.DOTALL)


def _part(part: str, once: Callable[[str, str], str]) -> str:
    """One name of a path."""
    pieces = [_fixed(piece) for piece in re.sub(r"\*+", "*", part).split("*")]
    if len(pieces) <= MOST_WILDCARDS + 1:
        return "[^/]*".join(pieces)
    between = "".join(once("[^/]*?", piece) for piece in pieces[1:-1])
    return f"{pieces[0]}{between}[^/]*{pieces[-1]}"


def _fixed(piece: str) -> str:
    return "".join("[^/]" if char == "?" else re.escape(char) for char in piece)
