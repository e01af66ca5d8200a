"""Steps that choose among the files of a dataset: `take`, `skip`, `sample`, `filter`. Nothing is read.

A filter looks at the path of a file, at what its path says by the dataset's partition_format, and at what was listed.
"""

from __future__ import annotations

import hashlib
import posixpath
from datetime import datetime
from typing import Any, Callable, Iterable, Iterator, Mapping, NamedTuple, Sequence

from runyard.contracts.data.datasets import FILTER, SAMPLE, SKIP, TAKE, BadDefinition, Definition
from runyard.contracts.data.operations import OPERATIONS, is_true
from runyard.contracts.data.partitions import partition_values
from runyard.contracts.data.tables import check_expression, partition_fault

PATH = "Path"
OF_FILE = "file:"
"""A column that begins with this is a fact of the file itself; no column out of a path has a colon in its name."""

SIZE, MODIFIED, EXTENSION, CAN_SEEK = "Size", "LastModifiedTime", "Extension", "CanSeek"
FACTS = (SIZE, MODIFIED, EXTENSION, CAN_SEEK)


class Seen(NamedTuple):
    """What steps may know of a file: its path in the dataset; its address, or `/` and its path in the datastore."""

    path: str
    shown: str
    size: int | None = None
    modified: str | None = None


def chosen(
    definition: Definition,
    files: Iterable[Any],
    seen: Callable[[Any], Seen],
    counts: list[int] | None = None,
) -> Iterator[Any]:
    """The files that the steps leave, in their order. The same definition always leaves the same of the same files.

    `counts` has how many files each step has seen, and is kept up to date: with what it was at a file, the files after
    that one can be given later.
    """
    found = iter(files)
    kept = counts if counts is not None else [0] * len(definition.steps)
    for number, step in enumerate(definition.steps):
        kind = step["step"]
        if kind == TAKE:
            found = _take(found, step["count"], kept, number)
        elif kind == SKIP:
            found = _skip(found, step["count"], kept, number)
        else:
            found = filter(_condition(step, seen, definition.partition_format), found)
    return found


def _take(files: Iterator[Any], count: int, seen: list[int], number: int) -> Iterator[Any]:
    while seen[number] < count:
        for each in files:
            seen[number] += 1
            yield each
            break
        else:
            return


def _skip(files: Iterator[Any], count: int, seen: list[int], number: int) -> Iterator[Any]:
    for each in files:
        if seen[number] >= count:
            yield each
        else:
            seen[number] += 1


def _condition(step: Mapping[str, Any], seen: Callable[[Any], Seen], format: str | None) -> Callable[[Any], bool]:
    if step["step"] == SAMPLE:
        return lambda each: _is_sampled(step, seen(each).path)
    return lambda each: is_true(worked_out(step["expression"], seen(each), format))


def _is_sampled(step: Mapping[str, Any], path: str) -> bool:
    digest = hashlib.sha256(f"{step['seed']}:{path}".encode("utf-8", "surrogatepass")).digest()
    inside = int.from_bytes(digest[:6], "big") / (1 << 48) < step["probability"]
    return bool(inside != bool(step.get("rest")))


def worked_out(expression: Mapping[str, Any], file: Seen, format: str | None) -> Any:
    """What an expression gives for a file. A column that there is not is null, as in tables.

    >>> large = {"op": ">", "of": [{"column": "file:Size"}, {"value": 10}]}
    >>> worked_out(large, Seen("/a.csv", "/d/a.csv", 11), None)
    True
    """
    if "column" in expression:
        return _value(str(expression["column"]), file, format)
    if "value" in expression:
        return expression["value"]
    if "time" in expression:
        return datetime.fromisoformat(expression["time"])
    if expression["op"] == "is_error":
        return False
    return OPERATIONS[expression["op"]](*(worked_out(each, file, format) for each in expression["of"]))


def _value(column: str, file: Seen, format: str | None) -> Any:
    if column == PATH:
        return file.shown
    if not column.startswith(OF_FILE):
        return partition_values(format, file.shown).get(column)
    fact = column[len(OF_FILE) :]
    if fact == SIZE:
        return file.size
    if fact == EXTENSION:
        return posixpath.splitext(file.path)[1]
    if fact == CAN_SEEK:
        return file.size is not None
    return datetime.strptime(file.modified, "%Y-%m-%dT%H:%M:%S.%fZ") if file.modified else None


# -- checks -----------------------------------------------------------------------------------------------------------


def check(document: object) -> Mapping[str, Any]:
    """A step, with nothing else in it; BadDefinition says what is wrong."""
    kind = document.get("step") if isinstance(document, Mapping) else None
    known = (TAKE, SKIP, SAMPLE, FILTER)
    if not isinstance(document, Mapping) or kind not in known:
        raise BadDefinition(f"{str(kind)[:40]!r} is no step of a dataset.", f"There is: {', '.join(known)}.")
    if kind == FILTER:
        if set(document) != {"step", "expression"}:
            raise BadDefinition("The step filter has an expression.")
        check_expression(document["expression"])
        return {"step": kind, "expression": document["expression"]}
    if kind in (TAKE, SKIP):
        count = document.get("count")
        if isinstance(count, bool) or not isinstance(count, int) or count < 0 or set(document) != {"step", "count"}:
            raise BadDefinition(f"The step {kind} has a count, which is a whole number from 0 on.")
        return {"step": kind, "count": count}
    probability, seed = document.get("probability"), document.get("seed")
    if (
        isinstance(probability, bool)
        or not isinstance(probability, (int, float))
        or not 0 <= probability <= 1
        or isinstance(seed, bool)
        or not isinstance(seed, int)
        or set(document) - {"step", "probability", "seed", "rest"}
    ):
        raise BadDefinition("The step sample has a probability from 0 to 1, and a seed, which is a whole number.")
    return {"step": kind, "probability": probability, "seed": seed, "rest": bool(document.get("rest"))}


def check_format(format: object) -> None:
    """Refuse what is no partition_format; BadDefinition says what is wrong."""
    fault = partition_fault(format) if isinstance(format, str) and len(format) <= 4_096 else "it is no text"
    if fault:
        raise BadDefinition(f"The partition_format {str(format)[:200]!r} cannot be used: {fault}.")


def check_columns(expression: Mapping[str, Any], keys: Sequence[str]) -> None:
    """Refuse an expression over what no file has; BadDefinition names it. `keys` are those of the partition_format."""
    if "column" in expression:
        name = str(expression["column"])
        if name != PATH and name not in keys and name not in [OF_FILE + fact for fact in FACTS]:
            raise BadDefinition(
                f"Files have no {name.replace(OF_FILE, '')!r} to filter by.",
                f"There is: dataset['Path'], {', '.join(f'dataset[{key!r}], ' for key in keys)}"
                f"and dataset.file_metadata of {', '.join(FACTS)}.",
            )
    for each in expression.get("of", ()):
        check_columns(each, keys)
