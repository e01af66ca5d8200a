"""A batch of journal records, sorted by what they are about and packed. Nothing here knows the database.

A good batch is parsed as a whole, for speed; only when that fails is it parsed record by record, to find the bad one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from runyard.contracts import journal, names
from runyard.store.errors import Refused
from runyard.store.metrics import chunks, exact_json
from runyard.store.metrics.chunks import Chunk
from runyard.store.tables import clean

VALUES, TABLE, FILE = "values", "table", "file"
BLOCK = 1 << 16
_PLAIN = frozenset({int, float})
_WRONG = (TypeError, ValueError, KeyError, IndexError, AttributeError, OverflowError, RecursionError)


@dataclass(frozen=True)
class SeriesName:
    """Which series of a run. One name may be used for values, for a table and for files: nothing is lost then. `type`
    is that of a file, and of values the source (`journal.SOURCES`) where they are not logged by the run itself."""

    name: str
    kind: str
    type: str = ""


@dataclass
class Batch:
    series: dict[SeriesName, Chunk] = field(default_factory=dict)
    descriptions: dict[str, str] = field(default_factory=dict)
    tags: dict[str, str | None] = field(default_factory=dict)
    untagged: set[str] = field(default_factory=set)
    properties: dict[str, str | None] = field(default_factory=dict)
    parameters: dict[str, str] = field(default_factory=dict)
    noted: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    @property
    def is_plain(self) -> bool:
        """Whether nobody finds runs by what it holds."""
        found = (self.tags, self.untagged, self.properties, self.descriptions, self.parameters, self.noted)
        return not any(found)


@dataclass
class _Points:
    values: list[Any] = field(default_factory=list)
    times: list[Any] = field(default_factory=list)
    steps: list[Any] = field(default_factory=list)

    def packed(self) -> Chunk:
        return chunks.pack(self.values, self.times, self.steps)


@dataclass
class _Rows:
    pieces: list[dict[str, list[Any]]] = field(default_factory=list)
    times: list[Any] = field(default_factory=list)

    def add(self, columns: dict[str, list[Any]], time: Any) -> None:
        lengths = {len(column) for column in columns.values() if type(column) is list}
        if len(lengths) != 1 or not all(type(column) is list for column in columns.values()):
            raise ValueError("the columns of a table are lists of one length")
        if self.pieces and self.pieces[-1].keys() == columns.keys():
            for name, column in columns.items():
                self.pieces[-1][name].extend(column)
        else:
            self.pieces.append({name: list(column) for name, column in columns.items()})
        self.times.extend([time] * lengths.pop())

    def packed(self) -> Chunk:
        return chunks.pack_rows(self.pieces, len(self.times), self.times)


def are_points(lines: bytes) -> bool:
    """Whether whole lines hold nothing but plain points, which `parse` would take. To find that out costs a fraction of
    packing them; False means no more than that they have to be parsed."""
    try:
        records = list(_records(lines))
        if set(map(type, records)) != {list}:
            return False
        # Column by column: to look at each record by itself takes five times as long.
        kinds, called, values, times, steps = zip(*records, strict=True)
        if set(kinds) != {journal.VALUE} or set(map(type, called)) != {str} or set(map(type, times)) != {float}:
            return False
        if not set(map(type, values)) <= _PLAIN or not isfinite(sum(times)) or not isfinite(sum(values)):
            return False
        numbered = [step for step in steps if step is not None]
        if not numbered:
            return True
        return set(map(type, numbered)) == {int} and min(numbered) > chunks.NO_STEP and max(numbered) < 1 << 63
    except _WRONG:
        return False


def parse(lines: bytes, offset: int) -> Batch:
    """Read whole lines of a journal, which begin at byte `offset` of it. Refused names the first line that is bad."""
    try:
        return of(_records(lines))
    except _WRONG as error:
        raise _bad_line(lines, offset, error) from error


def _records(lines: bytes) -> Iterator[Any]:
    """The records, a block at a time: a list for every line of a large batch would burden the garbage collector."""
    start = 0
    while start < len(lines):
        end = lines.rfind(b"\n", start, start + BLOCK) + 1 or lines.index(b"\n", start) + 1
        block = lines[start:end]
        records = exact_json.loads(b"[" + block[:-1].replace(b"\n", b",") + b"]")
        if len(records) != block.count(b"\n"):
            raise ValueError("a line holds more or less than one record")
        yield from records
        start = end


def of(records: Iterable[Any]) -> Batch:
    """Sort and pack records. One that is bad raises one of `_WRONG`."""
    batch = Batch()
    groups: dict[SeriesName, _Points | _Rows] = {}
    values: dict[str, _Points] = {}
    for record in records:
        kind = record[0]
        if kind == journal.VALUE:
            _, name, value, time, step = record
            points = values.get(name)
            if points is None:
                points = values[name] = _points(groups, SeriesName(_text(name), VALUES))
            points.values.append(value)
            points.times.append(time)
            points.steps.append(step)
        else:
            _sort(record, batch, groups)
    batch.series = {name: group.packed() for name, group in groups.items() if group.times}
    return batch


def _sort(record: list[Any], batch: Batch, groups: dict[SeriesName, _Points | _Rows]) -> None:
    kind, *items = record
    if kind == journal.LIST:
        name, values, time = items
        if type(values) is not list:
            raise TypeError("a piece of a list is a list")
        points = _points(groups, SeriesName(_text(name), VALUES))
        points.values.extend(values)
        points.times.extend([time] * len(values))
        points.steps.extend([None] * len(values))
    elif kind == journal.TABLE:
        name, columns, time = items
        rows = groups.setdefault(SeriesName(_text(name), TABLE), _Rows())
        assert isinstance(rows, _Rows)
        if columns != {}:
            rows.add(columns, time)
    elif kind == journal.ARTIFACT:
        name, type_, file, time = items
        points = _points(groups, SeriesName(_text(name), FILE, _text(type_)))
        points.values.append(names.check_file(file))
        points.times.append(time)
        points.steps.append(None)
    elif kind == journal.DESCRIPTION:
        name, text = items
        batch.descriptions[_text(name)] = _text(text)
    elif kind == journal.TAGS:
        (tags,) = items
        batch.tags.update(_labels(tags))
        batch.untagged.difference_update(batch.tags)
    elif kind == journal.UNTAG:
        (keys,) = items
        for key in map(_text, keys):
            batch.tags.pop(key, None)
            batch.untagged.add(key)
    elif kind == journal.PROPERTIES:
        (properties,) = items
        batch.properties = {**_labels(properties), **batch.properties}
    elif kind == journal.PARAMETERS:
        (parameters,) = items
        batch.parameters = {**{_text(key): _text(value) for key, value in parameters.items()}, **batch.parameters}
    elif kind == journal.NOTED:
        what, document = items
        if what not in (journal.INPUTS, journal.OUTPUTS, journal.MEASURED) or type(document) is not dict:
            raise ValueError("what is noted is a document of a known kind")
        batch.noted.append((what, document))
    elif kind == journal.OBSERVED:
        _observed(groups, *items)
    elif kind not in (journal.FILE, journal.END):
        raise ValueError(f"there is no record of the kind {kind!r}")


def _observed(
    groups: dict[SeriesName, _Points | _Rows], source: Any, time: Any, step: Any, values: dict[Any, Any]
) -> None:
    if source not in journal.SOURCES:
        raise ValueError(f"nothing is observed from {source!r}")
    for name, value in values.items():
        points = _points(groups, SeriesName(_text(name), VALUES, source))
        points.values.append(value)
        points.times.append(time)
        points.steps.append(step)


def _points(groups: dict[SeriesName, _Points | _Rows], name: SeriesName) -> _Points:
    points = groups.setdefault(name, _Points())
    assert isinstance(points, _Points)
    return points


def _labels(texts: dict[Any, Any]) -> dict[str, str | None]:
    found: dict[str, str | None] = {}
    for key, value in texts.items():
        if isinstance(value, (list, dict)):
            raise TypeError("a tag or property is a text or null")
        found[_text(key)] = value if value is None else clean(str(value))
    return found


def _text(text: object) -> str:
    if type(text) is not str:
        raise TypeError(f"{text!r} stands where a text belongs")
    return clean(text)


def _bad_line(lines: bytes, offset: int, error: Exception) -> Refused:
    number, at, bad, why = 1, offset, b"", error
    for line in lines[:-1].split(b"\n"):
        try:
            of([exact_json.loads(line)])
        except _WRONG as reason:
            bad, why = line, reason
            break
        number += 1
        at += len(line) + 1
    shown = bad[:80].decode("utf-8", "replace")
    return Refused(
        "bad_journal",
        f"Line {number} of the batch (byte {at} of the journal) is not a journal record: {shown!r} ({why}).",
        "The line was not written by Runyard, or was damaged; docs/protocol.md says what a journal holds.",
        {"line": number, "offset": at},
    )
