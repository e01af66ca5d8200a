"""Searching runs as MLflow does: its filters and orders as SQL, a page at a time.

Where runs are ordered by a metric, the index of last values gives them in that order, however many there are: first
those that have a number, then those that have what is none, then those that lack the metric, as MLflow has it in either
direction. Without an order, the newest come first. A page begins at a number of rows, and its token says in which of
these parts. The newest are looked for among the last runs first, one by one: most that is asked for is found there, and
to have indexes tell all runs that fulfil a wide condition takes many times as long.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    FromClause,
    Select,
    and_,
    case,
    exists,
    false,
    func,
    literal,
    not_,
    or_,
    select,
    type_coerce,
)

from runyard.contracts import states
from runyard.store.errors import Refused
from runyard.store.mlflow.language import (
    DATASET,
    METRIC,
    PARAMETER,
    TAG,
    Attributes,
    Condition,
    Order,
    parse_filter,
    parse_orders,
)
from runyard.store.runs import labels
from runyard.store.runs.labels import NOTE, RUN_NAME
from runyard.store.runs.records import SERVICE
from runyard.store.tables import (
    EPOCH,
    begun_at,
    experiments,
    fingerprint,
    run_datasets,
    runs,
    series,
)
from runyard.store.tables import labels as label_rows

ACTIVE_ONLY, DELETED_ONLY, ALL = "ACTIVE_ONLY", "DELETED_ONLY", "ALL"

STATUS = {
    "RUNNING": (states.RUNNING, states.NOT_RESPONDING, states.FINALIZING, states.CANCEL_REQUESTED),
    "FINISHED": (states.COMPLETED,),
    "FAILED": (states.FAILED,),
    "KILLED": (states.CANCELED,),
}
"""The states of runs by MLflow's names. All others are SCHEDULED."""

SCHEDULED = "SCHEDULED"

_NAMES = {
    **{name: name for name in ("run_id", "run_name", "status", "artifact_uri", "user_id", "experiment_id")},
    **{name: name for name in ("start_time", "end_time")},
    "run name": "run_name",
    "Run name": "run_name",
    "Run ID": "run_id",
    "created": "start_time",
    "Created": "start_time",
}
ATTRIBUTES = Attributes(_NAMES, frozenset({"start_time", "end_time"}))

START = "start_time"

PARENT, USER = "mlflow.parentRunId", "mlflow.user"
"""Tags that are columns of a run here, as its name and its description are."""

DEFAULT, DEFAULT_ID = "Default", "0"
"""The experiment of whoever names none, which MLflow's clients know by this id."""

SCHEME = "mlflow-artifacts:"
"""How addresses of artifacts begin: the client puts the server's own address in its place."""

_TOKEN = re.compile(r"([vnw])([0-9]{1,15})", re.ASCII)
_NUMBERS, _NO_NUMBERS, _WITHOUT = "v", "n", "w"
"""The parts of an order by a metric: runs with a number, runs with what is none, and runs without the metric."""


_LOOKED_AT, _MOST_LOOKED_AT = 20, 10_000
"""How many of the last runs are looked at for each that is wanted, and for all of them."""


@dataclass(frozen=True)
class Asked:
    """A search. `experiments` are serials."""

    experiments: Sequence[int]
    filter: str | None = None
    view: str = ACTIVE_ONLY
    order_by: Sequence[str] = ()
    limit: int = 1000
    token: str | None = None


def find(connection: Connection, asked: Asked) -> tuple[list[int], str | None]:
    """The serials of the runs of a page, in order, and the token of the next page, if there is one."""
    conditions = parse_filter(asked.filter, ATTRIBUTES)
    orders = parse_orders(asked.order_by, ATTRIBUTES)
    part, offset = _place(asked.token)
    if not asked.experiments:
        return [], None
    parts: dict[str, Callable[[Conditions], Select[Any]]]
    if orders and orders[0].kind == METRIC:
        parts = {
            _NUMBERS: lambda holding: _by_metric(asked, holding, conditions, orders),
            _NO_NUMBERS: lambda holding: _by_metric(asked, holding, conditions, orders, no_numbers=True),
            _WITHOUT: lambda holding: _without(asked, holding, conditions, orders),
        }
    else:
        parts = {_NUMBERS: lambda holding: _plain(asked, holding, orders)}
    if part not in parts:
        raise _no_token(asked.token)
    found: list[int] = []
    names = list(parts)
    holding = [_condition(connection, asked.experiments, each) for each in conditions]
    for name in names[names.index(part) :]:
        left = asked.limit - len(found)
        some = None if orders else _among_the_last(connection, asked, conditions, offset)
        if some is None:
            some = list(connection.scalars(parts[name](holding).limit(left + 1).offset(offset)))
        found += some[:left]
        if len(some) > left:
            return found, f"{name}{offset + left}"
        offset = 0
    return found, None


def serials_of(connection: Connection, ids: Sequence[str]) -> list[int]:
    """The serials of some experiments."""
    return list(connection.scalars(select(experiments.c.serial).where(experiments.c.id.in_(ids))))


def _place(token: str | None) -> tuple[str, int]:
    if not token:
        return _NUMBERS, 0
    found = _TOKEN.fullmatch(token)
    if found is None:
        raise _no_token(token)
    return found[1], int(found[2])


def _no_token(token: str | None) -> Refused:
    title = f"{(token or '')[:40]!r} is no page token."
    return Refused("bad_request", title, "Send `next_page_token` of the former page.")


Conditions = Sequence[ColumnElement[bool]]


def _plain(asked: Asked, holding: Conditions, orders: Sequence[Order]) -> Select[Any]:
    query = select(runs.c.serial).where(*_scope(asked), *holding)
    query, terms = _ordered(query, orders)
    return query.order_by(*terms, runs.c.serial.desc())


def _among_the_last(
    connection: Connection, asked: Asked, conditions: Sequence[Condition], offset: int
) -> list[int] | None:
    """What a page begins with, and one more, found among the last runs of an experiment; None when it is not there."""
    wanted = offset + asked.limit + 1
    looked_at = min(wanted * _LOOKED_AT, _MOST_LOOKED_AT)
    if not conditions or len(asked.experiments) != 1 or looked_at < 2 * wanted:
        return None
    scope = _within(runs.c.experiment, asked.experiments)
    before = connection.scalar(
        select(runs.c.serial).where(scope).order_by(runs.c.serial.desc()).limit(1).offset(looked_at)
    )
    holding = [_condition(connection, asked.experiments, each, one_by_one=True) for each in conditions]
    if before is not None:
        holding.append(runs.c.serial > before)
    found = list(connection.scalars(_plain(asked, holding, ()).limit(asked.limit + 1).offset(offset)))
    return found if before is None or len(found) > asked.limit else None


def _by_metric(
    asked: Asked,
    holding: Conditions,
    conditions: Sequence[Condition],
    orders: Sequence[Order],
    no_numbers: bool = False,
) -> Select[Any]:
    """The runs that have the metric which they are ordered by, as a number or as none. What is asked of that metric
    bounds the index."""
    first, *others = orders
    value = series.alias("ordered")
    bounds = [_compared(value, each) for each in conditions if each.kind == METRIC and each.key == first.key]
    query = select(runs.c.serial).join(value, value.c.run == runs.c.serial)
    query = query.where(
        _within(value.c.experiment, asked.experiments),
        value.c.sorted_as == fingerprint(first.key),
        and_(value.c.last.is_(None), value.c.last_time.is_not(None)) if no_numbers else value.c.last.is_not(None),
        *bounds,
        *_visible(asked),
        *holding,
    )
    query, terms = _ordered(query, others)
    lead = value.c.last.desc() if first.descending else value.c.last
    return query.order_by(lead, *(terms or [value.c.run.desc() if first.descending else value.c.run]))


def _without(
    asked: Asked, holding: Conditions, conditions: Sequence[Condition], orders: Sequence[Order]
) -> Select[Any]:
    """The runs that lack the metric which they are ordered by."""
    first, *others = orders
    if any(each.kind == METRIC and each.key == first.key for each in conditions):
        return select(runs.c.serial).where(false())
    having = select(series.c.run).where(series.c.sorted_as == fingerprint(first.key))
    lacking = runs.c.serial.not_in(having.where(or_(series.c.last.is_not(None), series.c.last_time.is_not(None))))
    query = select(runs.c.serial).where(lacking, *_scope(asked), *holding)
    query, terms = _ordered(query, others)
    return query.order_by(*terms, runs.c.serial.desc())


def _within(column: ColumnElement[int], serials: Sequence[int]) -> ColumnElement[bool]:
    return column == serials[0] if len(serials) == 1 else column.in_(list(serials))


def _scope(asked: Asked) -> list[ColumnElement[bool]]:
    return [_within(runs.c.experiment, asked.experiments), *_visible(asked)]


def _visible(asked: Asked) -> list[ColumnElement[bool]]:
    found: list[ColumnElement[bool]] = [runs.c.kind != SERVICE]
    if asked.view == ALL:
        return found
    archived = exists(
        select(1).where(experiments.c.serial == runs.c.experiment, experiments.c.archived_at.is_not(None))
    )
    if asked.view == DELETED_ONLY:
        return [*found, or_(runs.c.archived_at.is_not(None), archived)]
    if asked.view != ACTIVE_ONLY:
        raise Refused("bad_request", f"There is no view {asked.view[:40]!r}.", "Use ACTIVE_ONLY, DELETED_ONLY or ALL.")
    return [*found, runs.c.archived_at.is_(None), ~archived]


# -- orders -----------------------------------------------------------------------------------------------------------


def _ordered(query: Select[Any], orders: Sequence[Order]) -> tuple[Select[Any], list[ColumnElement[Any]]]:
    terms: list[ColumnElement[Any]] = []
    for number, order in enumerate(orders):
        if order.kind == METRIC:
            value = series.alias(f"order{number}")
            # `coalesce` stops SQLite from going through all runs that have the metric, for each run.
            named = func.coalesce(value.c.sorted_as, b"") == fingerprint(order.key)
            query = query.outerjoin(value, and_(value.c.run == runs.c.serial, named))
            terms.append(case((value.c.last_time.is_(None), 2), (value.c.last.is_(None), 1), else_=0))
            column: ColumnElement[Any] = value.c.last
        elif order.kind == PARAMETER or (order.kind == TAG and order.key not in (RUN_NAME, NOTE, PARENT)):
            text = label_rows.alias(f"order{number}")
            kind = labels.PARAMETER if order.kind == PARAMETER else labels.TAG
            mine = and_(text.c.run == runs.c.serial, labels.matches(text, kind, order.key, None))
            query = query.outerjoin(text, mine)
            column = text.c.value
            terms.append(case((column.is_(None), 1), else_=0))
        elif order.kind == DATASET:
            raise Refused("bad_filter", "Runs cannot be ordered by datasets.", "Order by a metric, parameter or tag.")
        else:
            column = _attribute(order.key)
            if order.key != START:  # which every run has, and an index has them in its order
                terms.append(case((column.is_(None), 1), else_=0))
        terms.append(column.desc() if order.descending else column.asc())
    return query, terms


# -- conditions -------------------------------------------------------------------------------------------------------


def _condition(
    connection: Connection, here: Sequence[int], asked: Condition, one_by_one: bool = False
) -> ColumnElement[bool]:
    """That a run fulfils a condition. With `one_by_one`, few runs are asked, and each for what it has."""
    if asked.kind == METRIC and one_by_one:
        named = func.coalesce(series.c.sorted_as, b"") == fingerprint(asked.key)  # as for orders
        return exists(select(1).where(series.c.run == runs.c.serial, named, _compared(series, asked)))
    if asked.kind == METRIC:
        # Not `exists`: the index has the runs that are meant, and to look for each run in it would take much longer.
        mine = and_(_within(series.c.experiment, here), series.c.sorted_as == fingerprint(asked.key))
        return runs.c.serial.in_(select(series.c.run).where(mine, _compared(series, asked)))
    if asked.kind == PARAMETER or (asked.kind == TAG and asked.key not in (RUN_NAME, NOTE, PARENT)):
        # What was noted of the source of a submitted run are properties, and shown as tags.
        tags = (labels.TAG, labels.PROPERTY) if asked.key.startswith("mlflow.") else (labels.TAG,)
        kinds = (labels.PARAMETER,) if asked.kind == PARAMETER else tags
        matching = or_(*(labels.matches(label_rows, kind, asked.key, None) for kind in kinds))
        columns = (label_rows.c.run, label_rows.c.value, label_rows.c.value_hash)
        return _of_texts(connection, asked, matching, *columns, one_by_one)
    if asked.kind == DATASET:
        known: dict[str, ColumnElement[Any]] = {
            "name": run_datasets.c.name,
            "digest": run_datasets.c.digest,
            "context": run_datasets.c.context,
        }
        if asked.key not in known:
            title = f"A dataset has no {asked.key[:40]!r} to ask for."
            raise Refused("bad_filter", title, "Use dataset.name, dataset.digest or dataset.context.")
        there = _textual(connection, known[asked.key], asked)
        return exists(select(1).where(run_datasets.c.run == runs.c.serial, there))
    return _of_attribute(connection, asked)


def _of_attribute(connection: Connection, asked: Condition) -> ColumnElement[bool]:
    if asked.key in ATTRIBUTES.numbers:
        assert isinstance(asked.value, (int, float))
        return _SIGNS[asked.sign](_attribute(asked.key), int(max(-(2**62), min(2**62, asked.value * 1000))))
    if asked.key == "status":
        return _of_status(asked)
    column = _attribute(asked.key)
    if asked.sign == "IS NULL":
        return column.is_(None)
    if asked.sign == "IS NOT NULL":
        return column.is_not(None)
    return _textual(connection, column, asked)


def _attribute(key: str) -> ColumnElement[Any]:
    """The column that an attribute of a run, or a tag that is one, stands for. Times are in microseconds."""
    name = func.coalesce(runs.c.display_name, runs.c.name)
    id = case((experiments.c.name == DEFAULT, DEFAULT_ID), else_=experiments.c.id)
    experiment = select(id).where(experiments.c.serial == runs.c.experiment).correlate(runs).scalar_subquery()
    columns: dict[str, ColumnElement[Any]] = {
        "run_id": runs.c.id,
        "run_name": name,
        "status": runs.c.status,
        "user_id": runs.c.submitted_by,
        START: _microseconds(begun_at()),
        "end_time": _microseconds(runs.c.ended_at),
        "artifact_uri": literal(f"{SCHEME}/") + experiment + "/" + runs.c.id + "/artifacts",
        "experiment_id": experiment,
        RUN_NAME: name,
        NOTE: runs.c.description,
        PARENT: runs.c.parent_id,
    }
    return columns[key]


def _microseconds(column: ColumnElement[Any]) -> ColumnElement[Any]:
    """A moment as the number that is stored."""
    return type_coerce(column, BigInteger())


def _of_status(asked: Condition) -> ColumnElement[bool]:
    wanted = asked.value if isinstance(asked.value, tuple) else (asked.value,)
    if asked.sign not in ("=", "!=", "IN", "NOT IN"):
        raise Refused("bad_filter", f"A status is compared by =, !=, IN or NOT IN, and not by {asked.sign}.")
    known = {each for several in STATUS.values() for each in several}
    parts = []
    for name in wanted:
        if str(name).upper() == SCHEDULED:
            parts.append(runs.c.status.not_in(sorted(known)))
        else:
            parts.append(runs.c.status.in_(STATUS.get(str(name).upper(), ())))
    either = or_(false(), *parts)
    return either if asked.sign in ("=", "IN") else not_(either)


def _of_texts(
    connection: Connection,
    asked: Condition,
    keyed: ColumnElement[bool],
    owner: ColumnElement[int],
    column: ColumnElement[Any],
    hashed: ColumnElement[Any],
    one_by_one: bool,
) -> ColumnElement[bool]:
    """A condition on parameters or tags: a run that lacks the key fulfils none but IS NULL."""
    mine = and_(owner == runs.c.serial, keyed)
    if asked.sign == "IS NULL":
        return ~exists(select(1).where(mine))
    if asked.sign == "IS NOT NULL":
        return exists(select(1).where(mine))
    if asked.sign == "=":
        valued = hashed == fingerprint(str(asked.value))
        return (
            exists(select(1).where(mine, valued))
            if one_by_one
            else runs.c.serial.in_(select(owner).where(keyed, valued))
        )
    return exists(select(1).where(mine, _textual(connection, column, asked)))


def _compared(table: FromClause, asked: Condition) -> ColumnElement[bool]:
    value = asked.value
    assert isinstance(value, (int, float))
    if value != value:  # nothing is equal to what is no number, and everything differs from it
        return table.c.last_time.is_not(None) if asked.sign == "!=" else false()
    told = _SIGNS[asked.sign](table.c.last, float(value))
    if asked.sign != "!=":
        return told
    return or_(told, and_(table.c.last.is_(None), table.c.last_time.is_not(None)))


def _textual(connection: Connection, column: ColumnElement[Any], asked: Condition) -> ColumnElement[bool]:
    if isinstance(asked.value, tuple):
        found = column.in_(list(asked.value))
        return found if asked.sign == "IN" else not_(found)
    value = str(asked.value)
    if asked.sign == "LIKE" and connection.dialect.name == "sqlite":
        return column.op("GLOB")(literal(_glob(value)))  # its LIKE does not tell capitals from others
    if asked.sign in ("LIKE", "ILIKE"):
        return column.like(value) if asked.sign == "LIKE" else column.ilike(value)
    return column == value if asked.sign == "=" else column != value


def _glob(pattern: str) -> str:
    """
    >>> _glob("a%b_[*]")
    'a*b?[[][*]]'
    """
    return "".join({"%": "*", "_": "?", "*": "[*]", "?": "[?]", "[": "[[]"}.get(each, each) for each in pattern)


_SIGNS: dict[str, Callable[[Any, Any], ColumnElement[bool]]] = {
    "=": lambda column, value: column == value,
    "!=": lambda column, value: column != value,
    ">": lambda column, value: column > value,
    ">=": lambda column, value: column >= value,
    "<": lambda column, value: column < value,
    "<=": lambda column, value: column <= value,
}


def milliseconds(moment: Any) -> int | None:
    """A moment as MLflow writes it."""
    return None if moment is None else int((moment - EPOCH).total_seconds() * 1000 + 0.5)
