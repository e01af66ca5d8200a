"""Lines of delimited files as records of texts, carefully: whatever is in the file. Standard library only.

This is the slow way, and the one that decides: what the engines do faster must give the same.
"""

from __future__ import annotations

import codecs
import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Iterator, Mapping, Sequence

from runyard.contracts.data import tables as contract
from runyard.sdk.tables.problem import TableProblem

LONGEST_LINE = 1 << 26
"""Characters of a line, or of a record with line breaks. What is longer is no table."""

_WIDE = ("utf-16", "utf-32")


@dataclass(frozen=True)
class Dialect:
    """How lines become records."""

    separator: str
    codec: str
    multi_line: bool
    encoding: str

    @classmethod
    def of(cls, read: Mapping[str, Any]) -> Dialect:
        encoding = str(read["encoding"])
        return cls(str(read["separator"]), contract.CODECS[encoding], bool(read.get("multi_line")), encoding)


def records(path: Path, dialect: Dialect, name: str) -> Iterator[tuple[int, list[str]]]:
    """The records of a file with the numbers of their first lines. Empty lines are left out.

    `name` is what the file is called in errors.
    """
    pending, begun = "", 0
    for number, line in lines(path, dialect.codec, dialect.encoding, name):
        if pending:
            line = pending + line
            if len(line) > LONGEST_LINE:
                raise TableProblem(f"{name}: the quote that is opened in line {begun:,} is not closed.", QUOTES)
            number = begun
        body = line.rstrip("\r\n")
        if not body:
            pending = ""
            continue
        if dialect.multi_line and body.count('"') % 2:
            pending, begun = line, number
            continue
        pending = ""
        yield number, split(body, dialect.separator)
    if pending:
        yield begun, split(pending.rstrip("\r\n"), dialect.separator)


QUOTES = "Correct the file, or read it with support_multi_line=False: each line is a record then."


def split(line: str, separator: str) -> list[str]:
    """The fields of a record. A quote that is opened and not closed stays in the text, and so does what follows one
    that is closed before the field ends.

    >>> split('a,"b, c",d', ","), split('a,"b "" c"', ","), split('a,"b,c', ","), split('"a,"b,c', ",")
    (['a', 'b, c', 'd'], ['a', 'b " c'], ['a', '"b', 'c'], ['a,b', 'c'])
    """
    if '"' not in line:
        return line.split(separator)
    fields, at = [], 0
    while True:
        quoted = ""
        if line.startswith('"', at):
            closing = _closing(line, at + 1)
            if closing >= 0:
                quoted, at = line[at + 1 : closing].replace('""', '"'), closing + 1
        end = line.find(separator, at)
        if end < 0:
            fields.append(quoted + line[at:])
            return fields
        fields.append(quoted + line[at:end])
        at = end + 1


def _closing(line: str, at: int) -> int:
    """Where the quote is closed; -1 when it is not."""
    while True:
        end = line.find('"', at)
        if end < 0 or not line.startswith('"', end + 1):
            return end
        at = end + 2


def lines(path: Path, codec: str, encoding: str, name: str) -> Iterator[tuple[int, str]]:
    """The lines of a text file with their numbers from 1 on. A TableProblem names the line that cannot be read."""
    if codec in _WIDE:
        yield from _wide_lines(path, codec, encoding, name)
        return
    number = 0
    with path.open("rb") as file:
        for piece in iter(lambda: file.readline(LONGEST_LINE), b""):
            number += 1
            if len(piece) >= LONGEST_LINE:
                raise TableProblem(f"{name}: line {number:,} is longer than {LONGEST_LINE:,} bytes.", NO_TABLE)
            if number == 1 and piece.startswith(codecs.BOM_UTF8) and codec.startswith("utf-8"):
                piece = piece[len(codecs.BOM_UTF8) :]
            try:
                text = piece.decode("utf-8" if codec == "utf-8-sig" else codec)
            except UnicodeDecodeError as error:
                raise _undecoded(name, number, encoding, error) from None
            if "\r" not in text.rstrip("\r\n"):
                yield number, text
                continue
            for at, part in enumerate(io.StringIO(text, newline="")):
                number += at > 0
                yield number, part


def _wide_lines(path: Path, codec: str, encoding: str, name: str) -> Iterator[tuple[int, str]]:
    number = 0
    with path.open("r", encoding=codec, newline="") as file:
        while True:
            try:
                text = file.readline(LONGEST_LINE)
            except UnicodeError as error:
                raise _undecoded(name, number + 1, encoding, error) from None
            if not text:
                return
            number += 1
            if len(text) >= LONGEST_LINE:
                raise TableProblem(f"{name}: line {number:,} is longer than {LONGEST_LINE:,} characters.", NO_TABLE)
            yield number, text


NO_TABLE = "It does not look like a table of text."


def _undecoded(name: str, number: int, encoding: str, error: UnicodeError) -> TableProblem:
    reason = getattr(error, "reason", None) or str(error)
    return TableProblem(
        f"{name}: line {number:,} cannot be read as {encoding} ({reason}).",
        f"Say how the file is encoded: encoding='latin1', or one of {', '.join(sorted(contract.CODECS))}. Compressed "
        "files are not unpacked.",
    )


# -- names of columns -------------------------------------------------------------------------------------------------


def column_names(header: Sequence[str]) -> list[str]:
    """Names out of a header: stripped, none empty, each once.

    >>> column_names([" a ", "", "a"])
    ['a', 'Column2', 'a_1']
    """
    names: list[str] = []
    taken: set[str] = set()
    for number, each in enumerate(header, 1):
        name = plain = each.strip() or f"Column{number}"
        count = 0
        while name in taken:
            count += 1
            name = f"{plain}_{count}"
        taken.add(name)
        names.append(name)
    return names


def widened(names: Sequence[str], width: int) -> list[str]:
    """The names of as many columns, for a record that is longer than the header.

    >>> widened(["a"], 3)
    ['a', 'Column2', 'Column3']
    """
    return column_names([*names, *("" for _ in range(width - len(names)))])
