"""Which runs a list shows: the filter, and the query that it makes. A page begins where the former one ended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import ColumnElement, Connection, Select, and_, exists, false, func, or_, select

from runyard.contracts import names
from runyard.store import tables
from runyard.store.errors import Refused
from runyard.store.runs import labels
from runyard.store.runs.records import SERVICE

runs = tables.runs

Order = Literal["newest", "oldest", "largest", "longest"]
NEWEST: Order = "newest"
OLDEST: Order = "oldest"
LARGEST: Order = "largest"
LONGEST: Order = "longest"
BY_AMOUNT = (LARGEST, LONGEST)
"""Orders that a run's place in changes while it goes on. A log that still grows does not count in the size."""

MOST_LABELS = 100
"""Labels in one filter. Each is a look at an index, and databases limit how large a statement may be."""


@dataclass(frozen=True)
class RunFilter:
    """A field that is None matches everything. A tag, property or parameter is (key, value), or (key, None) for any.

    `parent` asks for the direct children of a run, `root` for all that is below it. Without either, children are left
    out unless `include_children`. `short` is the beginning of an id, or its last part (after a `_`); `part` any part of
    it. `before` asks for runs that were made before that time. Runs that are replicas of services are left out unless
    `services`, or their experiment or id is asked for; archived runs, unless `archived` or their id is asked for.
    """

    workspace: str | None = None
    experiment: str | None = None
    type: str | None = None
    status: str | None = None
    tags: Sequence[tuple[str, str | None]] = ()
    properties: Sequence[tuple[str, str | None]] = ()
    parameters: Sequence[tuple[str, str | None]] = ()
    parent: str | None = None
    root: str | None = None
    target: str | None = None
    short: str | None = None
    part: str | None = None
    before: datetime | None = None
    include_children: bool = False
    services: bool = False
    archived: bool = False
    order: Order = NEWEST


def page(connection: Connection, rows: Select[Any], wanted: RunFilter, limit: int, after: str | None) -> Select[Any]:
    """Narrow a query of runs down to one page, in the order that is wanted."""
    serial: ColumnElement[int] = runs.c.serial
    kinds = ((labels.TAG, wanted.tags), (labels.PROPERTY, wanted.properties), (labels.PARAMETER, wanted.parameters))
    asked = [(kind, *each) for kind, some in kinds for each in some]
    if len(asked) > MOST_LABELS:
        title = f"The filter asks for {len(asked)} tags, properties and parameters."
        raise Refused("bad_request", title, f"Ask for {MOST_LABELS} at most.")
    if asked:
        # The index of the first label leads: it yields the runs in order, however many or few have the label.
        leading = tables.labels.alias()
        rows = rows.join(leading, and_(leading.c.run == runs.c.serial, labels.matches(leading, *asked[0])))
        serial = leading.c.run
    for each in asked[1:]:
        other = tables.labels.alias()
        rows = rows.where(exists().where(other.c.run == runs.c.serial, labels.matches(other, *each)))
    rows = rows.where(*_conditions(connection, wanted))
    if wanted.order == LARGEST:
        sizes = select(tables.files.c.run, func.sum(tables.files.c.size).label("size")).group_by(tables.files.c.run)
        taken = sizes.subquery()
        rows = rows.outerjoin(taken, taken.c.run == runs.c.serial).order_by(func.coalesce(taken.c.size, 0).desc())
    elif wanted.order == LONGEST:
        rows = rows.order_by((runs.c.ended_at - runs.c.started_at).desc().nulls_last())
    if wanted.order in BY_AMOUNT:
        # Amounts change, so a page begins at a number of rows and not at a run.
        return rows.order_by(serial.desc()).limit(limit).offset(0 if after is None else _position(after))
    if after is not None:
        rows = rows.where(serial > _position(after) if wanted.order == OLDEST else serial < _position(after))
    return rows.order_by(serial if wanted.order == OLDEST else serial.desc()).limit(limit)


def cursor(wanted: RunFilter, serial: int, after: str | None, shown: int) -> str:
    """What to send to get the page after the one that ends with the run of this serial."""
    if wanted.order in BY_AMOUNT:
        return f"r{(0 if after is None else _position(after)) + shown}"
    return f"r{serial}"


def _position(cursor: str) -> int:
    if not (cursor.startswith("r") and cursor[1:].isdecimal() and len(cursor) < 20):
        raise Refused("bad_request", f"{cursor!r} is no place in the list.", "Send the `next` of the former page.")
    return int(cursor[1:])


def _conditions(connection: Connection, wanted: RunFilter) -> list[ColumnElement[bool]]:
    found: list[ColumnElement[bool]] = []
    if wanted.experiment is not None:
        named = select(tables.experiments.c.serial).where(tables.experiments.c.name == wanted.experiment)
        if wanted.workspace is not None:
            named = named.where(tables.experiments.c.workspace == _workspace(connection, wanted.workspace))
        found.append(_one_of(runs.c.experiment, list(connection.scalars(named))))
    elif wanted.workspace is not None:
        found.append(runs.c.workspace == _workspace(connection, wanted.workspace))
    for column, value in ((runs.c.type, wanted.type), (runs.c.status, wanted.status), (runs.c.target, wanted.target)):
        if value is not None:
            found.append(column == value)
    if wanted.short is not None and len(wanted.short) > names.LONGEST_RUN:
        found.append(false())  # SQLite would call so long a pattern too complex
    elif wanted.short is not None:
        begins = runs.c.id.startswith(wanted.short, autoescape=True)
        found.append(or_(begins, runs.c.id.endswith(f"_{wanted.short}", autoescape=True)))
    if wanted.part is not None:
        found.append(runs.c.id.contains(wanted.part, autoescape=True))
    if not (wanted.services or wanted.experiment or wanted.short or wanted.part):
        found.append(runs.c.kind != SERVICE)
    if not (wanted.archived or wanted.short or wanted.part):
        found.append(runs.c.archived_at.is_(None))
    if wanted.before is not None:
        found.append(runs.c.created_at < wanted.before)
    if wanted.parent is not None:
        found.append(runs.c.parent_id == wanted.parent)
    if wanted.root is not None:
        found.append(_below(connection, wanted.root))
    if wanted.parent is None and wanted.root is None and not wanted.include_children:
        narrow = wanted.status or wanted.type or wanted.target
        # Nearly every run has no parent. `coalesce` stops SQLite from choosing that index where there is a better one.
        found.append(func.coalesce(runs.c.parent_id, "") == "" if narrow else runs.c.parent_id.is_(None))
    return found


def _workspace(connection: Connection, name: str) -> int:
    """The workspace's number; one that no workspace has when there is none of that name."""
    return connection.scalar(select(tables.workspaces.c.serial).where(tables.workspaces.c.name == name)) or 0


def _one_of(column: ColumnElement[int], serials: Sequence[int]) -> ColumnElement[bool]:
    return column == serials[0] if len(serials) == 1 else column.in_(serials)


def _below(connection: Connection, run_id: str) -> ColumnElement[bool]:
    root_id = connection.scalar(select(runs.c.root_id).where(runs.c.id == run_id))
    if root_id in (run_id, None):
        return and_(runs.c.root_id == run_id, runs.c.id != run_id)
    other = runs.alias()
    below = select(other.c.id, other.c.serial).where(other.c.parent_id == run_id).cte(recursive=True)
    below = below.union_all(select(other.c.id, other.c.serial).join(below, other.c.parent_id == below.c.id))
    return runs.c.serial.in_(select(below.c.serial))
