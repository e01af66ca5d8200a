"""Labels of runs: texts by which runs are found. Tags may change, properties stay as they were set."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from sqlalchemy import ColumnElement, Connection, FromClause, and_, bindparam, delete, insert, select, update

from runyard.store.errors import Conflict, Refused
from runyard.store.prepared import Prepared
from runyard.store.slices import slices
from runyard.store.tables import clean, fingerprint, labels, runs

TAG, PROPERTY, PARAMETER = "tag", "property", "parameter"
"""Parameters are the arguments that the script was told (`runyard.contracts.formats.arguments`), set when the run is
made, and what it logs as such (`runyard.store.runs.parameters`)."""

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)

SUBMITTED_FROM = "runyard.submitted.from"
"""The property of a run that was submitted from inside another one: that one's id. Rights follow from it
(`runyard.store.runs.family`), so it is set when the run is made, by the server alone."""

RUN_NAME, NOTE = "mlflow.runName", "mlflow.note.content"
"""Tags of MLflow that are the name and the description of a run."""

MOST_AT_ONCE = 20_000
"""Labels of one request: nobody else writes while they are, and a million would take a minute."""

Texts = Mapping[str, "str | None"]

# Building a statement costs more than running it: those that every request needs are built once.
_OF = select(labels.c.run, labels.c.kind, labels.c.key, labels.c.value).where(
    labels.c.run.in_(bindparam("runs", expanding=True))
)
_OF_ONE = Prepared(select(labels.c.kind, labels.c.key, labels.c.value).where(labels.c.run == bindparam("of")))
_REMOVE = Prepared(
    delete(labels).where(
        labels.c.run == bindparam("of"), labels.c.kind == bindparam("what"), labels.c.key_hash == bindparam("hash")
    )
)
_INSERT = insert(labels)
_ADD = Prepared(_INSERT, ("run", "kind", "key_hash", "value_hash", "key", "value", "number"))


def of(connection: Connection, runs: Sequence[int]) -> dict[tuple[int, str], dict[str, str | None]]:
    """The labels of some runs, by run and kind."""
    found: dict[tuple[int, str], dict[str, str | None]] = defaultdict(dict)
    if len(runs) == 1:
        for kind, key, value in _OF_ONE.all(connection, {"of": runs[0]}):
            found[runs[0], kind][key] = value
        return found
    for some in slices(runs):
        for run, kind, key, value in connection.execute(_OF, {"runs": some}).all():
            found[run, kind][key] = value
    return found


def check_number(*given: Texts | Sequence[str] | None) -> None:
    """Refuse a request with more labels than are written in one go. What journals bring is bounded by their pieces."""
    number = sum(len(each or ()) for each in given)
    if number > MOST_AT_ONCE:
        title = f"The request has {number:,} tags, properties and parameters."
        raise Refused("bad_request", title, f"Send {MOST_AT_ONCE:,} at most, and the others with the next request.")


def add(connection: Connection, run: int, kind: str, texts: Texts) -> None:
    """Add labels with keys that the run does not have."""
    if texts:
        _ADD.run_all(connection, [row(run, kind, key, value) for key, value in _distinct(texts).items()])


def add_all(connection: Connection, run: int, texts: Mapping[str, Texts]) -> None:
    """The labels of a new run, by kind."""
    rows = [row(run, kind, key, value) for kind, some in texts.items() for key, value in _distinct(some).items()]
    if rows:
        _ADD.run_all(connection, rows)


def put(connection: Connection, run: int, kind: str, texts: Texts) -> None:
    """Set labels, in place of those with the same key."""
    remove(connection, run, kind, texts)
    add(connection, run, kind, texts)


def put_tags(connection: Connection, run: int, tags: Texts) -> None:
    """Set tags. The name and the description of a run are tags to MLflow, and to nobody else."""
    columns = {
        column: tags[key] or "" for key, column in ((RUN_NAME, "display_name"), (NOTE, "description")) if key in tags
    }
    if columns:
        connection.execute(update(runs).where(runs.c.serial == run).values(columns))
    put(connection, run, TAG, {key: value for key, value in tags.items() if key not in (RUN_NAME, NOTE)})


def remove(connection: Connection, run: int, kind: str, keys: Iterable[str]) -> None:
    _REMOVE.run_all(connection, [{"of": run, "what": kind, "hash": fingerprint(key)} for key in keys])


def add_properties(connection: Connection, run: int, texts: Texts, keep_first: bool = False) -> None:
    """Add properties. One that is set cannot be changed: that is refused, or with `keep_first` passed over."""
    there = of(connection, [run]).get((run, PROPERTY), {})
    fresh = {}
    for key, value in _distinct(texts).items():
        if key == SUBMITTED_FROM and key not in there:
            if not keep_first:
                raise Conflict("property_fixed", f"The property {key!r} is set by the server alone.", "Use a tag.")
        elif key not in there:
            fresh[key] = value
        elif there[key] != (value if value is None else clean(value)) and not keep_first:
            raise Conflict(
                "property_fixed",
                f"The property {key!r} is {there[key]!r} already, and properties cannot be changed.",
                "Use a tag for what changes.",
                {"property": key, "value": there[key]},
            )
    add(connection, run, PROPERTY, fresh)


def matches(table: FromClause, kind: str, key: str, value: str | None) -> ColumnElement[bool]:
    """The condition that a row of (an alias of) the labels has this key and, unless None, this value."""
    condition = and_(table.c.kind == kind, table.c.key_hash == fingerprint(key))
    return condition if value is None else and_(condition, table.c.value_hash == fingerprint(value))


def _distinct(texts: Texts) -> dict[str, str | None]:
    return {clean(key): value for key, value in texts.items()}


def row(run: int, kind: str, key: str, value: str | None) -> dict[str, object]:
    """A label as it is stored."""
    return {
        "run": run,
        "kind": kind,
        "key_hash": fingerprint(key),
        "value_hash": None if value is None else fingerprint(value),
        "key": key,
        "value": value,
        "number": None if value is None else number_of(value),
    }


def number_of(text: str) -> float | None:
    """What a text says, where that is a finite number.

    >>> number_of("1e-3"), number_of("0x10"), number_of("1e999")
    (0.001, None, None)
    """
    found = float(text) if len(text) <= 40 and _NUMBER.fullmatch(text) else math.inf
    return found if math.isfinite(found) else None
