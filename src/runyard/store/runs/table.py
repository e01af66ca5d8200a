"""The table of runs: a page of those that a sentence finds, in any order, with the values of the columns shown.

A page is found in two steps: the serials of its runs, by indexes wherever they lead, and then the rows of these few. An
order by a named value begins with the runs that have it, in the order of its index, and goes on with the others.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from math import isfinite
from typing import Any as Anything

from sqlalchemy import ColumnElement, Connection, Select, Subquery, and_, false, func, not_, or_, select, true

from runyard.contracts import states
from runyard.store import tables
from runyard.store.errors import Refused
from runyard.store.runs import labels, runs, workspaces
from runyard.store.runs import query_language as language
from runyard.store.runs.query_language import All, Any, Not, Part, Term, Word
from runyard.store.runs.records import SERVICE, SWEEP, Run
from runyard.store.slices import slices
from runyard.store.tables import MICROSECOND, fingerprint

KINDS = {language.PARAMETER: labels.PARAMETER, language.TAG: labels.TAG, language.PROPERTY: labels.PROPERTY}

MOST_NAMES = 50
"""Metrics, parameters and tags of one kind that a page shows the values of."""

_RUNS = tables.runs
_SERIES = tables.series
_LABELS = tables.labels
_IS_FINITE = _SERIES.c.last.between(-sys.float_info.max, sys.float_info.max)
_NAME = func.coalesce(_RUNS.c.display_name, _RUNS.c.name, _RUNS.c.id)
_DURATION = _RUNS.c.ended_at - _RUNS.c.started_at
_COLUMNS: dict[str, ColumnElement[Anything]] = {
    "created": _RUNS.c.serial,
    "started": _RUNS.c.started_at,
    "ended": _RUNS.c.ended_at,
    "duration": _DURATION,
    "status": _RUNS.c.status,
    "name": func.lower(_NAME),
    "id": _RUNS.c.id,
    "target": _RUNS.c.target,
    "type": _RUNS.c.type,
    "user": _RUNS.c.submitted_by,
    "number": _RUNS.c.number,
    "experiment": _RUNS.c.experiment,
}
SORTED = tuple(_COLUMNS)
_TEXTS: dict[str, ColumnElement[Anything]] = {
    "name": _NAME,
    "id": _RUNS.c.id,
    "target": _RUNS.c.target,
    "type": _RUNS.c.type,
    "user": _RUNS.c.submitted_by,
    "parent": _RUNS.c.parent_id,
    "root": _RUNS.c.root_id,
}


@dataclass(frozen=True)
class Sort:
    """By a field of `SORTED`, or by a named value of a family."""

    field: str = "created"
    family: str | None = None
    descending: bool = True


@dataclass(frozen=True)
class Asked:
    """Which runs: `filter` of one workspace. Those below others only with `children`, or of one run with `parent`."""

    workspace: str
    filter: Part = language.EVERYTHING
    sort: Sort = Sort()
    children: bool = False
    parent: str | None = None


@dataclass(frozen=True)
class Columns:
    """The named values that are shown."""

    metrics: Sequence[str] = ()
    parameters: Sequence[str] = ()
    tags: Sequence[str] = ()


@dataclass(frozen=True)
class Row:
    run: Run
    metrics: dict[str, float | None]  # None: it was logged, and its last value is no finite number
    children: int


@dataclass(frozen=True)
class Group:
    """Runs that have one value in common."""

    value: str | None
    runs: int
    states: dict[str, int] = field(default_factory=dict)
    metrics: dict[str, tuple[float, float, float]] = field(default_factory=dict)  # least, mean, largest


def sort_of(text: str) -> Sort:
    """An order as it is written: `-created`, `acc`, `-metrics.acc`, `params.lr`; a minus is for the largest first."""
    descending = text.startswith("-")
    name = text.removeprefix("-")
    if not name:
        raise Refused("bad_query", "An order needs a name.", f"Use one of {', '.join(SORTED)}, or metrics.NAME.")
    family, dot, rest = name.partition(".")
    if dot and family in language.FAMILIES:
        if not rest:
            raise Refused("bad_query", f"{text!r} names nothing after the dot.", f"Write {family}.NAME.")
        return Sort(rest, language.FAMILIES[family], descending)
    return Sort(name, None if name in SORTED else language.METRIC, descending)


def page(connection: Connection, asked: Asked, limit: int, offset: int = 0) -> list[Run]:
    """Some runs, in order."""
    return runs.of_serials(connection, serials(connection, asked, limit, offset))


def serials(connection: Connection, asked: Asked, limit: int, offset: int = 0) -> list[int]:
    """The same by their numbers."""
    found: list[int] = []
    condition = _condition(connection, asked)
    for query, is_last in _phases(asked, condition):
        part = list(connection.scalars(query.limit(limit - len(found)).offset(offset)))
        found += part
        if len(found) >= limit or is_last:
            break
        if part:
            offset = 0
        elif offset:
            # All of this phase comes before the page.
            count = query.with_only_columns(func.count(), maintain_column_froms=True).order_by(None)
            offset = max(0, offset - (connection.scalar(count) or 0))
    return found


def count(connection: Connection, asked: Asked) -> int:
    query = select(func.count()).select_from(_RUNS).where(*_condition(connection, asked))
    return connection.scalar(query) or 0


def rows(connection: Connection, found: Sequence[Run], columns: Columns) -> list[Row]:
    """Runs with what the columns show of them."""
    of = {run.id: run for run in found}
    metrics = last_values(connection, list(of), columns.metrics)
    children = _children(connection, list(of))
    return [Row(run, metrics.get(run.id, {}), children.get(run.id, 0)) for run in found]


def rows_of(connection: Connection, serials: Sequence[int], columns: Columns) -> list[Row]:
    return rows(connection, runs.of_serials(connection, serials), columns)


def last_values(
    connection: Connection, run_ids: Sequence[str], names: Sequence[str]
) -> dict[str, dict[str, float | None]]:
    """The last values of some metrics, by run and name."""
    hashes = {fingerprint(name): name for name in names}
    found: dict[str, dict[str, float | None]] = {}
    for some in slices(run_ids) if hashes else ():
        query = (
            select(_RUNS.c.id, _SERIES.c.sorted_as, _SERIES.c.last)
            .join(_SERIES, _SERIES.c.run == _RUNS.c.serial)
            # `coalesce` stops SQLite from going through all runs that have the metric.
            .where(_RUNS.c.id.in_(some), func.coalesce(_SERIES.c.sorted_as, b"").in_(list(hashes)))
        )
        for run_id, name, last in connection.execute(query):
            found.setdefault(run_id, {})[hashes[bytes(name)]] = last if last is not None and isfinite(last) else None
    return found


def groups(connection: Connection, asked: Asked, by: Sort, metrics: Sequence[str], limit: int) -> list[Group]:
    """The runs by what they have in common, the largest group first: how many of each state, and what their metrics
    come to."""
    condition = _condition(connection, asked)
    value, grouped = _grouping(by, condition)
    totals: dict[str | None, Group] = {}
    query = grouped.add_columns(value.label("value"), _RUNS.c.status, func.count().label("amount"))
    for row in connection.execute(query.group_by(value, _RUNS.c.status)):
        group = totals.setdefault(row.value, Group(row.value, 0))
        totals[row.value] = Group(row.value, group.runs + row.amount, {**group.states, row.status: row.amount})
    largest = sorted(totals.values(), key=lambda group: (-group.runs, group.value or ""))[:limit]
    shown = {group.value: group for group in largest}
    for name in metrics:
        last = _last_by_run(name)
        amounts = (func.min(last.c.last), func.avg(last.c.last), func.max(last.c.last))
        joined = grouped.join(last, last.c.run == _RUNS.c.serial)
        query = joined.add_columns(value.label("value"), *amounts).group_by(value)
        for key, least, mean, largest_value in connection.execute(query):
            if key in shown and least is not None:
                shown[key].metrics[name] = (float(least), float(mean), float(largest_value))
    return [
        Group(_shown(connection, by, group.value), group.runs, group.states, group.metrics) for group in shown.values()
    ]


def _last_by_run(metric: str) -> Subquery:
    """The last values in the order of their runs: rows of runs and labels are found three times as fast in their own
    order as in that of the values. The limit, which is none, keeps the order from being left out."""
    of_name = select(_SERIES.c.run, _SERIES.c.last).where(_SERIES.c.sorted_as == fingerprint(metric), _IS_FINITE)
    return of_name.order_by(_SERIES.c.run).limit(1 << 62).subquery("last")


def names(connection: Connection, workspace: str, limit: int) -> dict[str, list[str]]:
    """What there is to choose columns from: names of metrics, parameters, tags and properties in the newest runs."""
    recent = (
        select(_RUNS.c.serial)
        .where(_RUNS.c.workspace == workspaces.serial(connection, workspace))
        .order_by(_RUNS.c.serial.desc())
        .limit(_RECENT)
        .subquery()
    )
    metrics = (
        select(_SERIES.c.name)
        .where(_SERIES.c.run.in_(select(recent.c.serial)), _SERIES.c.sorted_as.is_not(None))
        .distinct()
        .order_by(_SERIES.c.name)
        .limit(limit)
    )
    found = {language.METRIC: list(connection.scalars(metrics))}
    for family, kind in KINDS.items():
        query = (
            select(_LABELS.c.key)
            .where(_LABELS.c.run.in_(select(recent.c.serial)), _LABELS.c.kind == kind)
            .distinct()
            .order_by(_LABELS.c.key)
            .limit(limit)
        )
        found[family] = list(connection.scalars(query))
    return found


def values(connection: Connection, workspace: str, name: Sort, begin: str, limit: int) -> list[str]:
    """What a field or a label has been in the newest runs: for completion."""
    recent = (
        select(_RUNS.c.serial)
        .where(_RUNS.c.workspace == workspaces.serial(connection, workspace))
        .order_by(_RUNS.c.serial.desc())
        .limit(_RECENT)
        .subquery()
    )
    if name.family in KINDS:
        column: ColumnElement[Anything] = _LABELS.c.value
        query = select(column).where(
            labels.matches(_LABELS, KINDS[str(name.family)], name.field, None),
            _LABELS.c.run.in_(select(recent.c.serial)),
            column.is_not(None),
        )
    elif name.field == "experiment":
        column = tables.experiments.c.name
        here = tables.experiments.c.workspace == workspaces.serial(connection, workspace)
        query = select(column).where(here)
    elif name.field in ("status", "target", "type", "user"):
        column = _COLUMNS[name.field]
        query = select(column).where(_RUNS.c.serial.in_(select(recent.c.serial)), column.is_not(None))
    else:
        return []
    if begin:
        query = query.where(func.lower(column).startswith(begin.lower(), autoescape=True))
    return list(connection.scalars(query.distinct().order_by(column).limit(limit)))


_RECENT = 2000
"""Runs whose names and values are offered: to look through all would take as long as to find runs by them."""


# -- where -------------------------------------------------------------------------------------------------------------


def _condition(connection: Connection, asked: Asked) -> list[ColumnElement[bool]]:
    found = [_RUNS.c.workspace == workspaces.serial(connection, asked.workspace), _RUNS.c.kind != SERVICE]
    if asked.parent is not None:
        found.append(_RUNS.c.parent_id == asked.parent)
    elif not asked.children:
        found.append(_RUNS.c.parent_id.is_(None))
    if not language.uses_archived(asked.filter):
        found.append(_RUNS.c.archived_at.is_(None))
    if asked.filter != language.EVERYTHING:
        found.append(_of(connection, asked, asked.filter))
    return found


def _of(connection: Connection, asked: Asked, part: Part) -> ColumnElement[bool]:
    if isinstance(part, Not):
        # Whatever is unknown of a run does not hold, and so its opposite does.
        return not_(func.coalesce(_of(connection, asked, part.part), false()))
    if isinstance(part, All):
        return and_(true(), *(_of(connection, asked, each) for each in part.parts))
    if isinstance(part, Any):
        return or_(false(), *(_of(connection, asked, each) for each in part.parts))
    if isinstance(part, Word):
        return or_(*(_contains(column, part.text) for column in (_RUNS.c.id, _RUNS.c.display_name, _RUNS.c.name)))
    return _term(connection, asked, part)


def _term(connection: Connection, asked: Asked, term: Term) -> ColumnElement[bool]:
    if term.field == "has" and term.family is not None:
        return _RUNS.c.serial.in_(_named(term.family, term.values[0]))
    if term.family == language.METRIC:
        return _RUNS.c.serial.in_(
            _named(language.METRIC, term.field).where(_compared(_SERIES.c.last, term, term.numbers))
        )
    if term.family is not None:
        return _label(term)
    if term.field == "is":
        return or_(*(_flag(flag) for flag in term.values))
    if term.field in language.TIMES:
        column = _RUNS.c[f"{term.field}_at"]
        # A day that is given without an hour means all of it.
        lasts = timedelta(days=1) if len(term.values[0]) <= 10 else MICROSECOND
        return and_(column.is_not(None), _compared_times(column, term.comparison, term.times[0], lasts))
    if term.field == "age":
        now = datetime.now(timezone.utc)
        times = tuple(now - timedelta(seconds=min(seconds, 1e10)) for seconds in term.numbers)
        turned = {">": "<", ">=": "<=", "<": ">", "<=": ">="}.get(term.comparison, term.comparison)
        return _compared_times(_RUNS.c.created_at, turned, times[0], MICROSECOND)
    if term.field == "duration":
        return _compared(_DURATION, term, tuple(seconds * 1e6 for seconds in term.numbers))
    if term.field == "number":
        return _compared(_RUNS.c.number, term, term.numbers)
    if term.field == "experiment":
        here = tables.experiments.c.workspace == workspaces.serial(connection, asked.workspace)
        wanted = select(tables.experiments.c.serial).where(here, _text(tables.experiments.c.name, term))
        found = list(connection.scalars(wanted))
        return _RUNS.c.experiment.in_(found) if found else false()
    if term.field == "status":
        return _status(term)
    return _text(_TEXTS[term.field], term)


def _status(term: Term) -> ColumnElement[bool]:
    known = {status.lower(): status for status in states.ALL}
    if term.comparison == "~":
        found = [status for name, status in known.items() if any(value.lower() in name for value in term.values)]
    else:
        found = [known.get(value.lower(), value) for value in term.values]
    condition = _RUNS.c.status.in_(found)
    return not_(condition) if term.comparison == "!=" else condition


def _text(column: ColumnElement[Anything], term: Term) -> ColumnElement[bool]:
    """`:` finds parts of names, and everything else whole."""
    if term.comparison == "~" or (term.comparison == ":" and term.field in ("name", "id")):
        return or_(*(_contains(column, value) for value in term.values))
    condition = column.in_(term.values)
    return or_(column.is_(None), not_(condition)) if term.comparison == "!=" else condition


def _label(term: Term) -> ColumnElement[bool]:
    kind = KINDS[str(term.family)]
    having = select(_LABELS.c.run).where(labels.matches(_LABELS, kind, term.field, None))
    if term.comparison in (">", ">=", "<", "<="):
        return _RUNS.c.serial.in_(having.where(_compared(_LABELS.c.number, term, term.numbers)))
    if term.comparison == "~":
        return _RUNS.c.serial.in_(having.where(or_(*(_contains(_LABELS.c.value, each) for each in term.values))))
    hashes = [fingerprint(each) for each in term.values]
    numbers = [number for each in term.values if (number := labels.number_of(each)) is not None]
    same: ColumnElement[bool] = _LABELS.c.value_hash.in_(hashes)
    found: ColumnElement[bool] = _RUNS.c.serial.in_(having.where(same))
    if numbers:  # 1e-3 is 0.001
        found = or_(found, _RUNS.c.serial.in_(having.where(_LABELS.c.number.in_(numbers))))
    return not_(found) if term.comparison == "!=" else found


def _flag(flag: str) -> ColumnElement[bool]:
    if flag == "archived":
        return _RUNS.c.archived_at.is_not(None)
    if flag == "active":
        return _RUNS.c.status.in_(sorted(states.ALL - states.TERMINAL))
    if flag == "ended":
        return _RUNS.c.status.in_(sorted(states.TERMINAL))
    return _RUNS.c.parent_id.is_not(None) if flag == "child" else _RUNS.c.kind == SWEEP


def _compared(column: ColumnElement[Anything], term: Term, numbers: Sequence[float]) -> ColumnElement[bool]:
    number = numbers[0]
    found: dict[str, ColumnElement[bool]] = {
        ">": column > number,
        ">=": column >= number,
        "<": column < number,
        "<=": column <= number,
        "!=": not_(column.in_(numbers)),
    }
    return and_(column.is_not(None), found.get(term.comparison, column.in_(numbers)))


def _compared_times(
    column: ColumnElement[Anything], comparison: str, at: datetime, lasts: timedelta
) -> ColumnElement[bool]:
    until = at + lasts
    if comparison in (">", "<="):
        return column >= until if comparison == ">" else column < until
    if comparison in (">=", "<"):
        return column >= at if comparison == ">=" else column < at
    within = and_(column >= at, column < until)
    return not_(within) if comparison == "!=" else within


def _contains(column: ColumnElement[Anything], text: str) -> ColumnElement[bool]:
    return func.lower(column).contains(text.lower(), autoescape=True)


def _named(family: str, name: str) -> Select[Anything]:
    """The runs that have a named value."""
    if family == language.METRIC:
        return select(_SERIES.c.run).where(_SERIES.c.sorted_as == fingerprint(name))
    return select(_LABELS.c.run).where(labels.matches(_LABELS, KINDS[family], name, None))


# -- order and groups --------------------------------------------------------------------------------------------------


def _phases(asked: Asked, condition: Sequence[ColumnElement[bool]]) -> Iterator[tuple[Select[Anything], bool]]:
    """Queries whose results, one after the other, are the runs in order."""
    sort = asked.sort
    newest = _RUNS.c.serial.desc()
    if sort.family is None:
        column = _COLUMNS.get(sort.field)
        if column is None:
            raise Refused("bad_query", f"Runs have no order by {sort.field!r}.", f"Use one of {', '.join(SORTED)}.")
        order = (column.desc() if sort.descending else column.asc()).nulls_last()
        if sort.field == "created":
            order = column.desc() if sort.descending else column.asc()
        yield select(_RUNS.c.serial).where(*condition).order_by(order, newest), True
        return
    is_key: ColumnElement[bool]
    if sort.family == language.METRIC:
        key, run, is_key = _SERIES.c.last, _SERIES.c.run, _IS_FINITE
        have = select(run).where(_SERIES.c.sorted_as == fingerprint(sort.field))
        is_key = and_(is_key, *_bounds(asked.filter, sort.field))
    else:
        key, run, is_key = _LABELS.c.number, _LABELS.c.run, _LABELS.c.number.is_not(None)
        have = select(run).where(labels.matches(_LABELS, KINDS[sort.family], sort.field, None))
    joined = have.join(_RUNS, _RUNS.c.serial == run).where(*condition)
    order_by = (key.desc(), run.desc()) if sort.descending else (key.asc(), run.desc())
    yield joined.where(is_key).order_by(*order_by), False
    if sort.family != language.METRIC:
        text = _LABELS.c.value.desc() if sort.descending else _LABELS.c.value.asc()
        yield joined.where(key.is_(None)).order_by(text, run.desc()), False
        without = select(_RUNS.c.serial).where(*condition, _RUNS.c.serial.not_in(have))
    else:
        without = select(_RUNS.c.serial).where(*condition, _RUNS.c.serial.not_in(have.where(_IS_FINITE)))
    yield without.order_by(newest), True


def _bounds(part: Part, metric: str) -> list[ColumnElement[bool]]:
    """What a sentence demands of the metric that runs are ordered by: the index is read from there on, not from its
    end, where no run may be that the sentence finds."""
    parts = part.parts if isinstance(part, All) else (part,)
    terms = [each for each in parts if isinstance(each, Term) and each.family == language.METRIC]
    return [
        _compared(_SERIES.c.last, each, each.numbers) for each in terms if each.field == metric and each.field != "has"
    ]


def _grouping(by: Sort, condition: Sequence[ColumnElement[bool]]) -> tuple[Anything, Select[Anything]]:
    if by.family is None:
        if by.field not in ("experiment", "status", "target", "type", "user"):
            help = "Group by experiment, status, target, type, user, tag.NAME, params.NAME or prop.NAME."
            raise Refused("bad_query", f"Runs cannot be grouped by {by.field!r}.", help)
        return _COLUMNS[by.field], select().select_from(_RUNS).where(*condition)
    if by.family not in KINDS:
        raise Refused("bad_query", "Runs cannot be grouped by a metric.", "Group by what they have in common.")
    matches = labels.matches(_LABELS, KINDS[by.family], by.field, None)
    joined = select().select_from(_RUNS).outerjoin(_LABELS, and_(_LABELS.c.run == _RUNS.c.serial, matches))
    return _LABELS.c.value, joined.where(*condition)


def _shown(connection: Connection, by: Sort, value: Anything) -> str | None:
    if by.family is None and by.field == "experiment":
        return connection.scalar(select(tables.experiments.c.name).where(tables.experiments.c.serial == value))
    return None if value is None else str(value)


def _children(connection: Connection, run_ids: Sequence[str]) -> Mapping[str, int]:
    found: dict[str, int] = {}
    for some in slices(run_ids):
        query = select(_RUNS.c.parent_id, func.count()).where(_RUNS.c.parent_id.in_(some)).group_by(_RUNS.c.parent_id)
        found.update((str(parent), amount) for parent, amount in connection.execute(query))
    return found
