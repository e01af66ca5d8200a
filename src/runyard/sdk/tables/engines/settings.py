"""What an engine is told about one file that it reads."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Iterator, Mapping, Sequence

from runyard.contracts.data.tables import STRING
from runyard.sdk.tables.delimited import Dialect, records, widened

if TYPE_CHECKING:
    from runyard.sdk.tables.column_types import Type

ROWS = 16_384
"""Records of a batch that is read carefully."""
TEXT_TYPE: Mapping[str, str] = {"type": STRING}


USUAL = Dialect(",", "utf-8-sig", False, "utf8")


@dataclass(frozen=True)
class ReadFile:
    """A file, and how it is read. `names` and `dialect` are those of a delimited file."""

    path: Path
    name: str  # what it is called in errors
    types: Mapping[str, Type] = field(default_factory=dict)
    fail: bool = False  # a text that does not fit its type is an error, and not null
    needed: frozenset[str] | None = None  # columns that are used later; None: all
    errors: frozenset[str] = frozenset()  # columns of which the texts that did not fit are asked for
    whole: bool = False  # all rows are wanted at once, so that large batches do no harm
    names: Sequence[str] = ()
    header_line: int = 0  # the last line of the header, from 1 on; 0: there is none
    dialect: Dialect = USUAL
    empty_as_string: bool = False

    def is_needed(self, name: str) -> bool:
        return self.needed is None or name in self.needed

    def type_of(self, name: str) -> Type:
        return self.types.get(name, TEXT_TYPE)

    @property
    def failing(self) -> str | None:
        return self.name if self.fail else None


def careful_batches(file: ReadFile, skipped: int = 0) -> Iterator[tuple[list[str], list[list[str | None]]]]:
    """Names and columns of texts, batch by batch, from a record on. Short records end in nulls, and a long one adds
    columns."""
    held: list[list[str]] = []
    passed = 0
    for number, fields in records(file.path, file.dialect, file.name):
        if number <= file.header_line:
            continue
        passed += 1
        if passed <= skipped:
            continue
        held.append(fields)
        if len(held) == ROWS:
            yield _columns(file, held)
            held = []
    if held:
        yield _columns(file, held)


def _columns(file: ReadFile, held: Sequence[Sequence[str]]) -> tuple[list[str], list[list[str | None]]]:
    width = max(len(file.names), max(map(len, held)))
    names = widened(file.names, width) if width > len(file.names) else list(file.names)
    nothing = "" if file.empty_as_string else None
    made: list[list[str | None]] = [
        [(each[at] or nothing) if at < len(each) else None for each in held] for at in range(width)
    ]
    kept = [at for at, name in enumerate(names) if file.is_needed(name)]
    return [names[at] for at in kept], [made[at] for at in kept]
