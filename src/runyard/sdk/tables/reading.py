"""Reading a table: its files in their order, batch by batch, through its steps. Nothing is held longer than a batch."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Callable, Iterable, Iterator, Mapping, Sequence, Tuple

from runyard.contracts.data import datasets
from runyard.contracts.data import tables as contract
from runyard.contracts.data.partitions import partition_values
from runyard.sdk.tables.column_types import SAMPLED, Type, infer
from runyard.sdk.tables.delimited import Dialect, column_names, lines, records
from runyard.sdk.tables.engines.base import ERRORS, Engine
from runyard.sdk.tables.engines.settings import ROWS, ReadFile, careful_batches
from runyard.sdk.tables.expressions import columns_of, columns_with_errors
from runyard.sdk.tables.files import TableFile
from runyard.sdk.tables.problem import TableProblem
from runyard.sdk.tables.sampling import taken

PATH = "Path"

Files = Callable[[], Iterable[TableFile]]
"""Gives the files of a table, each time from the first on."""


Queried = Callable[[], Iterable[Tuple[Sequence[str], Sequence[Sequence[Any]]]]]
"""Gives the rows of a query, each time anew: names of columns, and some thousand rows."""


@dataclass(frozen=True)
class Table:
    """A definition with its files, on an engine."""

    definition: Mapping[str, Any]
    files: Files
    engine: Engine[Any]
    queried: Queried | None = None  # the rows of a query, where there are no files

    @property
    def read(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.definition["read"]
        return found

    @property
    def steps(self) -> Sequence[Mapping[str, Any]]:
        return self.definition.get("steps") or ()

    def batches(self, fail: bool = False, whole: bool = False) -> Iterator[Any]:
        """The rows, batch by batch. `whole` says that all rows are held anyway, so that large batches do no harm."""
        whole = whole and all(step["step"] in (contract.KEEP, contract.DROP) for step in self.steps)
        found = self._rows(fail, whole)
        for step in self.steps:
            found = _STEPS[step["step"]](self.engine, found, step)
        return self._shown(found) if self._needed()[1] else found

    def _shown(self, batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            names = self.engine.names(batch)
            yield self.engine.select(batch, [name for name in names if not name.startswith(ERRORS)])

    def inferred(self) -> dict[str, Type]:
        """The types of the columns of delimited files, by their first rows."""
        held: dict[str, list[str | None]] = {}
        rows = 0
        for file in self._delimited({}, False, False):
            for names, columns in careful_batches(file):
                left = SAMPLED - rows
                for name, texts in zip(names, columns):
                    held.setdefault(name, [None] * rows).extend(texts[:left])
                rows += min(left, len(columns[0]))
                for texts in held.values():
                    texts.extend([None] * (rows - len(texts)))
                break  # a batch has more rows than are sampled
            if rows >= SAMPLED:
                break
        return {name: infer(texts, name) for name, texts in held.items()}

    # -- files --------------------------------------------------------------------------------------------------------

    def _rows(self, fail: bool, whole: bool) -> Iterator[Any]:
        format = self.read["format"]
        set_types: Mapping[str, Type] = self.read.get("types") or {}
        if format == contract.DELIMITED:
            types = self.read.get("inferred")
            if types is None and self.read.get("infer", True):
                types = self.inferred()
            for file in self._delimited({**(types or {}), **set_types}, fail, whole):
                yield from self._with_paths(file, self.engine.delimited(file))
        elif format == contract.PARQUET:
            for each in self.files():
                file = self._file(each, set_types, fail, whole)
                yield from self._with_paths(file, self.engine.parquet(file))
        elif format == contract.SQL:
            assert self.queried is not None  # a query needs no files
            yield from self._of_query(self.queried, set_types, "the query" if fail else None)
        else:
            for each in self.files():
                file = self._file(each, set_types, fail, whole)
                yield from self._with_paths(file, self._json(file))

    def _of_query(self, queried: Queried, types: Mapping[str, Type], fail: str | None) -> Iterator[Any]:
        needed, _ = self._needed()
        for names, rows in queried():
            kept = [at for at, name in enumerate(names) if needed is None or name in needed]
            columns = {names[at]: [row[at] for row in rows] for at in kept}
            batch = self.engine.of_values([names[at] for at in kept], columns, len(rows))
            yield self.engine.converted(batch, types, fail)

    def _file(self, each: TableFile, types: Mapping[str, Type], fail: bool, whole: bool) -> ReadFile:
        needed, errors = self._needed()
        return ReadFile(each.path, each.shown, types, fail, needed, errors, whole)

    def _delimited(self, types: Mapping[str, Type], fail: bool, whole: bool) -> Iterator[ReadFile]:
        """The delimited files that have records, each with the names of its columns."""
        dialect = Dialect.of(self.read)
        header = self.read["header"]
        needed, errors = self._needed()
        empty_as_string = bool(self.read.get("empty_as_string"))
        first: list[str] | None = None
        for each in self.files():
            begun = next(records(each.path, dialect, each.shown), None)
            if begun is None:
                continue
            number, fields = begun
            has_header = header in (contract.SAME_HEADERS, contract.ALL_HEADERS) or (
                header == contract.FIRST_HEADER and first is None
            )
            own = column_names(fields) if has_header else [f"Column{at}" for at in range(1, len(fields) + 1)]
            if first is None:
                first = own
            names = own if header == contract.ALL_HEADERS else first
            last = number + sum(field.count("\n") for field in fields) if has_header else 0
            used = needed if needed is not None and needed & set(names) else None
            yield ReadFile(
                each.path, each.shown, types, fail, used, errors, whole, names, last, dialect, empty_as_string
            )

    def _json(self, file: ReadFile) -> Iterator[Any]:
        """The rows of a file with a JSON object per line."""
        encoding = str(self.read["encoding"])
        drop = self.read["invalid_lines"] == "drop"
        held: list[dict[str, Any]] = []
        for number, line in lines(file.path, contract.CODECS[encoding], encoding, file.name):
            if not line.strip():
                continue
            try:
                found = json.loads(line)
                if not isinstance(found, dict):
                    raise ValueError("it is no object")
            except (ValueError, RecursionError) as error:
                if drop:
                    continue
                raise TableProblem(
                    f"{file.name}: line {number:,} is no JSON object ({error}).",
                    "Correct it, or read with invalid_lines='drop'.",
                ) from None
            held.append(found)
            if len(held) == ROWS:
                yield self._of_objects(held, file)
                held = []
        if held:
            yield self._of_objects(held, file)

    def _of_objects(self, held: Sequence[Mapping[str, Any]], file: ReadFile) -> Any:
        names = [name for name in dict.fromkeys(key for each in held for key in each) if file.is_needed(name)]
        columns = {name: [each.get(name) for each in held] for name in names}
        return self.engine.converted(self.engine.of_values(names, columns, len(held)), file.types, file.failing)

    def _with_paths(self, file: ReadFile, batches: Iterator[Any]) -> Iterator[Any]:
        front: dict[str, Any] = {PATH: file.name} if self.read.get("include_path") else {}
        front.update(partition_values(self.read.get("partition_format"), file.name))
        front = {name: value for name, value in front.items() if file.is_needed(name)}
        for batch in batches:
            yield self.engine.in_front(batch, front) if front else batch

    def _needed(self) -> tuple[frozenset[str] | None, frozenset[str]]:
        """The columns that any step or the result uses (None: all), and those of which errors are asked for."""
        kept: set[str] | None = None
        used: set[str] = set()
        errors: set[str] = set()
        for step in self.steps:
            if step["step"] == contract.FILTER:
                used |= columns_of(step["expression"])
                errors |= columns_with_errors(step["expression"])
            elif step["step"] == contract.KEEP and kept is None:
                kept = set(step["columns"])
        return (None if kept is None else frozenset(kept | used)), frozenset(errors)


# -- steps ------------------------------------------------------------------------------------------------------------

Step = Mapping[str, Any]


def _take(engine: Engine[Any], batches: Iterator[Any], step: Step) -> Iterator[Any]:
    left = int(step["count"])
    while left > 0:
        batch = next(batches, None)
        if batch is None:
            return
        rows = engine.length(batch)
        yield batch if rows <= left else engine.cut(batch, 0, left)
        left -= rows


def _skip(engine: Engine[Any], batches: Iterator[Any], step: Step) -> Iterator[Any]:
    left = int(step["count"])
    for batch in batches:
        rows = engine.length(batch)
        if left >= rows:
            left -= rows
            continue
        yield engine.cut(batch, left, rows - left) if left else batch
        left = 0


def _sample(engine: Engine[Any], batches: Iterator[Any], step: Step) -> Iterator[Any]:
    position = 0
    for batch in batches:
        rows = engine.length(batch)
        mask = taken(int(step["seed"]), position, rows, float(step["probability"]), bool(step.get("rest")))
        position += rows
        yield engine.masked(batch, mask)


def _filter(engine: Engine[Any], batches: Iterator[Any], step: Step) -> Iterator[Any]:
    for batch in batches:
        yield engine.masked(batch, engine.condition(batch, step["expression"]))


def _keep(engine: Engine[Any], batches: Iterator[Any], step: Step) -> Iterator[Any]:
    wanted = set(step["columns"])
    for batch in batches:
        names = engine.names(batch)
        kept = [name for name in names if name in wanted or name.startswith(ERRORS)]
        if not any(name in wanted for name in names):
            raise TableProblem(
                f"The table has none of the columns {', '.join(map(repr, step['columns'][:10]))}.",
                f"It has: {', '.join(name for name in names[:20] if not name.startswith(ERRORS)) or 'none of them'}.",
            )
        yield engine.select(batch, kept)


def _drop(engine: Engine[Any], batches: Iterator[Any], step: Step) -> Iterator[Any]:
    gone = set(step["columns"])
    for batch in batches:
        yield engine.select(batch, [name for name in engine.names(batch) if name not in gone])


_STEPS: Mapping[str, Callable[[Engine[Any], Iterator[Any], Step], Iterator[Any]]] = {
    datasets.TAKE: _take,
    datasets.SKIP: _skip,
    datasets.SAMPLE: _sample,
    contract.FILTER: _filter,
    contract.KEEP: _keep,
    contract.DROP: _drop,
}
