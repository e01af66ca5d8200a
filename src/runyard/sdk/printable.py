"""Texts of scripts and other users, made safe to show: without what moves a cursor, sets a title or hides text."""

from __future__ import annotations

import re

_UNPRINTABLE = re.compile(
    "\x1b\\[[0-?]*[ -/]*[@-~]"  # colours and cursors
    "|\x1b[\\]P^_X][^\x07\x1b]*(?:\x07|\x1b\\\\)?"  # titles, clipboards, links
    "|\x1b[ -/]*[0-~]?"
    "|[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]"
)


def printable(text: str) -> str:
    """The text without escapes and control characters; line breaks and tabs stay.

    >>> printable("\\x1b[31mred\\x1b[0m \\x1b]0;title\\x07text")
    'red text'
    """
    return _UNPRINTABLE.sub("", text)


def last_lines(text: str, most: int, width: int) -> list[str]:
    """The end of a log as a terminal would show it: of an overwritten line (`\\r`), the last version.

    >>> last_lines("10%\\r20%\\ndone\\n", 5, 80)
    ['20%', 'done']
    """
    shown = []
    for line in text.rstrip("\n").split("\n")[-most:] if text.strip() else []:
        line = printable(line.rstrip("\r").rpartition("\r")[2])
        shown.append(line if len(line) <= width else line[:width] + "…")
    return shown
