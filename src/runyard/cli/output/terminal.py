"""Guards the terminal against what the commands print.

Names, tags, metrics and errors are written by scripts and by other people's servers, and a terminal obeys what it
finds in them: sequences that fill the clipboard, change the title, clear the screen or hide a line. So all text that a
command writes passes here, and what is not meant to be read is shown as `\\u001b` and the like, which is also how JSON
writes it. The colours of the commands themselves come from `style`. Only the bytes of a log go past: they are what a
script has printed (`sys.stdout.buffer`).
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO, cast

_CONTROLS = "\x00-\x08\x0b-\x1f\x7f-\x9f"  # all but the tab and the end of a line
_DIRECTIONS = "\u202a-\u202e\u2066-\u2069"  # turn the order of what is read around
_HALVES = "\ud800-\udfff"  # of a character, which no encoding can write
_UNREADABLE = f"[{_CONTROLS}{_DIRECTIONS}{_HALVES}]"
_UNREADABLE_IN_LINE = f"[\t\n{_CONTROLS}{_DIRECTIONS}{_HALVES}]"

_COLOURS = {"red": 31, "green": 32, "yellow": 33, "blue": 34, "magenta": 35, "cyan": 36}

_OWN = f"\0{os.urandom(8).hex()}\0"
"""Marks the escape character of our own styles: nobody else can know it."""


def readable(text: str) -> str:
    """The text with nothing in it that a terminal would obey.

    >>> readable("a name\\x1b]0;title\\x07")
    'a name\\\\u001b]0;title\\\\u0007'
    """
    if text.replace("\n", "").replace("\t", "").isprintable():  # mostly; and to compile the pattern takes a millisecond
        return text
    return re.sub(_UNREADABLE, _named, text)


def readable_line(text: str) -> str:
    """The same for what must stay on one line, such as a cell of a table."""
    return text if text.isprintable() else re.sub(_UNREADABLE_IN_LINE, _named, text)


def _named(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"


def style(text: str, stream: TextIO | None = None, fg: str | None = None, bold: bool = False) -> str:
    """Text in a colour, or bold, where `stream` (standard output) is a terminal; plain elsewhere."""
    if not (stream or sys.stdout).isatty():
        return text
    codes = [*([_COLOURS[fg]] if fg is not None else []), *([1] if bold else [])]
    return "".join(f"{_OWN}[{code}m" for code in codes) + f"{readable(text)}{_OWN}[0m"


class Guard:
    """A stream of text whose writes are made readable. Everything else is the stream's own."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        # How rich finds the stream below: it writes sequences of its own. `cli.output.screen` hands it readable text.
        self.rich_proxied_file = stream

    def write(self, text: str) -> int:
        self._stream.write("\x1b".join(map(readable, text.split(_OWN))))
        return len(text)

    def writelines(self, lines: Iterator[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def guarded() -> Iterator[None]:
    """Both streams are guarded, for as long as a command runs."""
    out, err = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = cast(TextIO, Guard(out)), cast(TextIO, Guard(err))
    try:
        yield
    finally:
        sys.stdout, sys.stderr = out, err
