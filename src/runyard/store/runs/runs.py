"""Runs: their rows, their states and their family. `records` has what a run holds; `runyard.scheduler.states` decides
which state comes next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from typing import Any

from sqlalchemy import Connection, Select, bindparam, func, insert, literal, select
from sqlalchemy import update as update_

from runyard.contracts import states as state_names
from runyard.contracts.formats.arguments import parameters
from runyard.store import after_commit, damage, tables
from runyard.store.content import build_contexts
from runyard.store.errors import NotFound, Refused, run_not_found
from runyard.store.prepared import Prepared
from runyard.store.runs import experiments, filter, ids, labels
from runyard.store.runs.filter import RunFilter as RunFilter
from runyard.store.runs.records import SCRIPT as SCRIPT
from runyard.store.runs.records import Json
from runyard.store.runs.records import NewRun as NewRun
from runyard.store.runs.records import Run as Run
from runyard.store.runs.records import StateChange as StateChange
from runyard.store.slices import slices

# Building a statement costs more than running it: those that every request needs are built once.
_ROWS: Select[Any] = (
    select(
        tables.runs,
        tables.experiments.c.id.label("experiment_id"),
        tables.experiments.c.name.label("experiment_name"),
        tables.workspaces.c.name.label("workspace_name"),
        tables.launches.c.nodes,
        tables.launches.c.attempt,
        tables.launches.c.restart,
    )
    .join(tables.experiments, tables.runs.c.experiment == tables.experiments.c.serial)
    .join(tables.workspaces, tables.runs.c.workspace == tables.workspaces.c.serial)
    .join(tables.launches, tables.launches.c.run == tables.runs.c.serial)
)
_KEYS = (tables.runs.c.serial, tables.runs.c.id)
_OF_ID = _ROWS.where(tables.runs.c.id == bindparam("id"))
_BY_ID = Prepared(_OF_ID)
_CURRENT = Prepared(
    _OF_ID.add_columns(
        select(func.max(tables.states.c.at))
        .where(tables.states.c.run == tables.runs.c.serial)
        .scalar_subquery()
        .label("changed_at")
    )
)
_SERIAL_OF_ID = select(tables.runs.c.serial).where(tables.runs.c.id == bindparam("id"))
_SERIAL = Prepared(_SERIAL_OF_ID)
_NEXT_NUMBER = Prepared(
    update_(tables.experiments)
    .where(tables.experiments.c.id == bindparam("of"))
    .values(last_number=tables.experiments.c.last_number + 1)
    .returning(tables.experiments.c.last_number, tables.experiments.c.serial, tables.experiments.c.workspace)
)
_MADE_WITH = (
    *("id", "number", "workspace", "experiment", "parent_id", "root_id", "kind", "type", "name", "display_name"),
    *("description", "status", "reason", "target", "created_at", "started_at", "submitted_by", "snapshot_id"),
)
_INSERT = Prepared(insert(tables.runs).returning(tables.runs.c.serial), _MADE_WITH)
_INSERT_LAUNCH = Prepared(insert(tables.launches), ("run", "definition", "launch", "context", "nodes"))
_INSERT_STATE = Prepared(insert(tables.states), ("run", "status", "at", "reason"))
_STATES = Prepared(
    select(tables.states.c.status, tables.states.c.at, tables.states.c.reason)
    .where(tables.states.c.run == bindparam("of"))
    .order_by(tables.states.c.serial)
)
_CHANGED = ("status", "reason", "started_at", "ended_at", "error", "warnings")
_UPDATE = Prepared(
    update_(tables.runs)
    .where(tables.runs.c.serial == bindparam("at"))
    .values({name: bindparam(f"new_{name}", type_=tables.runs.c[name].type) for name in _CHANGED})
)
_WHOSE = tables.launches.c.run == _SERIAL_OF_ID.scalar_subquery()
_SET_HANDLE = update_(tables.launches).where(_WHOSE).values(handle=bindparam("handle"))
_HANDLE = Prepared(select(tables.launches.c.handle).where(_WHOSE))
_DEFINED = Prepared(select(tables.launches.c.definition, tables.launches.c.launch).where(_WHOSE))
_SNAPSHOT = Prepared(select(tables.snapshots.c.serial).where(tables.snapshots.c.id == bindparam("id")))


def create(connection: Connection, new: NewRun) -> Run:
    """Store a run with its first state. Its number is the next one of its experiment."""
    ids.check(connection, new.id)
    if max(len(new.type), len(new.target)) > 255:
        raise Refused("bad_request", "The type or the target of the run is too long.", "Use 255 characters at most.")
    _check_snapshot(connection, new.snapshot_id)
    experiment_id, root_id = _place(connection, new)
    number, experiment, workspace = _NEXT_NUMBER.first(connection, {"of": experiment_id})
    now = datetime.now(timezone.utc)
    serial: int = _INSERT.scalar(
        connection,
        {
            "id": new.id,
            "number": number,
            "workspace": workspace,
            "experiment": experiment,
            "parent_id": new.parent_id,
            "root_id": root_id,
            "kind": new.kind,
            "type": new.type,
            "name": new.name,
            "display_name": new.display_name,
            "description": new.description,
            "status": new.status,
            "reason": new.reason,
            "target": new.target,
            "created_at": new.created_at or now,
            "started_at": (new.started_at or now) if new.status == state_names.RUNNING else None,
            "submitted_by": new.submitted_by,
            "snapshot_id": new.snapshot_id,
        },
    )
    context = build_contexts.of_launch(connection, new.launch)
    made = {"definition": new.definition, "launch": new.launch, "context": context, "nodes": new.nodes}
    _INSERT_LAUNCH.run(connection, {"run": serial, **made})
    _INSERT_STATE.run(connection, {"run": serial, "status": new.status, "at": now, "reason": new.reason})
    labels.check_number(new.tags, new.properties)
    told = parameters((new.launch or {}).get("arguments") or [])
    texts = {labels.TAG: new.tags, labels.PROPERTY: new.properties, labels.PARAMETER: told}
    labels.add_all(connection, serial, texts)
    return get(connection, new.id)


def get(connection: Connection, run_id: str) -> Run:
    run = look_up(connection, run_id)
    if run is None:
        raise run_not_found(run_id)
    return run


def look_up(connection: Connection, run_id: str) -> Run | None:
    row = _BY_ID.first(connection, {"id": run_id})
    if row is None:
        return None
    after_commit.serials(connection)[run_id] = row.serial
    return _with_labels(connection, [row])[0]


def serial_of(connection: Connection, run_id: str) -> int:
    """The number by which other rows refer to a run."""
    known = after_commit.serials(connection)
    serial = known.get(run_id)
    if serial is None:
        serial = _SERIAL.scalar(connection, {"id": run_id})
        if serial is None:
            raise run_not_found(run_id)
        known[run_id] = serial
    return serial


def serials_of(connection: Connection, run_ids: Sequence[str]) -> dict[int, str]:
    """The numbers of several runs, with the id of each, in this order."""
    query = select(tables.runs.c.id, tables.runs.c.serial)
    found: dict[str, int] = {}
    for some in slices(run_ids):
        found.update((row.id, row.serial) for row in connection.execute(query.where(tables.runs.c.id.in_(some))))
    for run_id in run_ids:
        if run_id not in found:
            raise run_not_found(run_id)
    return {found[run_id]: run_id for run_id in run_ids}


def find(
    connection: Connection, wanted: RunFilter, limit: int = 100, after: str | None = None
) -> tuple[list[Run], str | None]:
    """A page of runs, and where the next page begins (None when there is none)."""
    query = filter.page(connection, _ROWS, wanted, limit + 1, after)
    found = damage.rows(connection, query, *_KEYS)
    serials = [row.serial for row in found]
    if damage.serials(connection, tables.runs):  # those that cannot be read have their place on the page all the same
        serials = list(connection.scalars(query.with_only_columns(tables.runs.c.serial, maintain_column_froms=True)))
    shown = set(serials[:limit])
    following = filter.cursor(wanted, serials[limit - 1], after, limit) if len(serials) > limit else None
    return _with_labels(connection, [row for row in found if row.serial in shown]), following


def of_serials(connection: Connection, serials: Sequence[int]) -> list[Run]:
    """The runs of these numbers, in this order; those that cannot be read are left out."""
    found: dict[int, Run] = {}
    for some in slices(list(serials)):
        rows = damage.rows(connection, _ROWS.where(tables.runs.c.serial.in_(some)), *_KEYS)
        of = {row.id: row.serial for row in rows}
        found.update((of[run.id], run) for run in _with_labels(connection, rows))
    return [found[serial] for serial in serials if serial in found]


def definition_and_launch(connection: Connection, run_id: str) -> tuple[Json, Json | None]:
    row = _DEFINED.first(connection, {"id": run_id})
    if row is None:
        raise run_not_found(run_id)
    return row.definition or {}, row.launch


def context(connection: Connection, run_id: str) -> str | None:
    """The snapshot that the run's image is built from."""
    serial = serial_of(connection, run_id)
    found: str | None = connection.scalar(select(tables.launches.c.context).where(tables.launches.c.run == serial))
    return found


def update(
    connection: Connection,
    run_id: str,
    set_tags: Mapping[str, str | None] | None = None,
    remove_tags: Sequence[str] = (),
    add_properties: Mapping[str, str | None] | None = None,
    display_name: str | None = None,
    description: str | None = None,
    name: str | None = None,
    snapshot_id: str | None = None,
) -> Run:
    """Change what is not None."""
    serial = serial_of(connection, run_id)
    labels.check_number(set_tags, remove_tags, add_properties)
    labels.put(connection, serial, labels.TAG, set_tags or {})
    labels.remove(connection, serial, labels.TAG, remove_tags)
    if add_properties:
        labels.add_properties(connection, serial, add_properties)
    texts = {"display_name": display_name, "description": description, "name": name, "snapshot_id": snapshot_id}
    changed = {column: text for column, text in texts.items() if text is not None}
    if changed:
        connection.execute(update_(tables.runs).where(tables.runs.c.serial == serial).values(changed))
    return get(connection, run_id)


@dataclass(frozen=True)
class Current:
    """A run as it is before a change, and what the change needs to know besides."""

    run: Run
    serial: int
    changed_at: datetime  # the latest time in its history: later entries are not earlier, even if a clock was set back


def current(connection: Connection, run_id: str) -> Current:
    row = _CURRENT.first(connection, {"id": run_id})
    if row is None:
        raise run_not_found(run_id)
    after_commit.serials(connection)[run_id] = row.serial
    return Current(_with_labels(connection, [row])[0], row.serial, row.changed_at)


def record_state(
    connection: Connection, run_id: str, status: str, reason: str | None, at: datetime | None = None, **more: Any
) -> Run:
    """`change_state` for a run that was not read before."""
    return change_state(connection, current(connection, run_id), status, reason, at, **more)


def change_state(
    connection: Connection,
    before: Current,
    status: str,
    reason: str | None,
    at: datetime | None = None,
    error: Json | None = None,
    warnings: Sequence[dict[str, str]] = (),
    happened_at: datetime | None = None,
) -> Run:
    """Append a state to the run's history and make it the current one, as `changed` says."""
    at = at or datetime.now(timezone.utc)
    after = changed(before.run, status, reason, at, error, warnings, happened_at)
    store_changes(connection, before.serial, after, [StateChange(status, at, after.reason)])
    return after


def changed(
    run: Run,
    status: str,
    reason: str | None,
    at: datetime,
    error: Json | None = None,
    warnings: Sequence[dict[str, str]] = (),
    happened_at: datetime | None = None,
) -> Run:
    """A run in another state.

    `at` is when the state was reported, `happened_at` when its cause happened, if that is known: a node may report
    late. The first Running sets the start, a terminal state the end. A terminal state without an error clears a former
    one. Warnings are added to those that are there, each once.
    """
    happened_at = happened_at or at
    ends = status in state_names.TERMINAL
    return replace(
        run,
        status=status,
        reason=None if reason is None else tables.clean(reason),
        started_at=run.started_at or (happened_at if status == state_names.RUNNING else None),
        ended_at=happened_at if ends else None,
        error=error if ends or error else run.error,
        warnings=[*run.warnings, *(warning for warning in warnings if warning not in run.warnings)],
    )


def store_changes(connection: Connection, serial: int, after: Run, states: Sequence[StateChange]) -> None:
    """Append states to a run's history, and store the run as the last of them has made it."""
    new = {f"new_{name}": getattr(after, name) for name in _CHANGED}
    _UPDATE.run(connection, {**new, "at": serial, "new_warnings": after.warnings or None})
    rows = [{"run": serial, "status": each.status, "at": each.at, "reason": each.reason} for each in states]
    if len(rows) == 1:
        _INSERT_STATE.run(connection, rows[0])
    else:
        _INSERT_STATE.run_all(connection, rows)


def states(connection: Connection, run_id: str) -> list[StateChange]:
    """Every state of a run, the first one first."""
    return [StateChange(*row) for row in _STATES.all(connection, {"of": serial_of(connection, run_id)})]


def archive(connection: Connection, run_ids: Sequence[str], archived: bool) -> None:
    """Put runs out of sight in lists, or back into it."""
    at = datetime.now(timezone.utc) if archived else None
    for some in slices(list(run_ids)):
        change = update_(tables.runs).where(tables.runs.c.id.in_(some)).values(archived_at=at)
        connection.execute(change if not archived else change.where(tables.runs.c.archived_at.is_(None)))


def active(connection: Connection) -> list[Run]:
    """The runs that have not ended, oldest first."""
    going = sorted(state_names.ALL - state_names.TERMINAL)
    query = _ROWS.where(tables.runs.c.status.in_(going)).order_by(tables.runs.c.serial)
    return _with_labels(connection, damage.rows(connection, query, *_KEYS))


def counts_by_status(connection: Connection) -> dict[str, int]:
    query = select(tables.runs.c.status, func.count()).group_by(tables.runs.c.status)
    return {row[0]: row[1] for row in connection.execute(query)}


def set_handles(connection: Connection, handles: Mapping[str, Json]) -> None:
    """Store what the engine needs to find the node runners of some runs again. Runs that are not there are skipped."""
    if handles:
        connection.execute(_SET_HANDLE, [{"id": run_id, "handle": handle} for run_id, handle in handles.items()])


def set_handle(connection: Connection, run_id: str, handle: Json | None) -> None:
    """The same for one run, which must be there."""
    if not connection.execute(_SET_HANDLE, {"id": run_id, "handle": handle}).rowcount:
        raise run_not_found(run_id)


def handle(connection: Connection, run_id: str) -> Json | None:
    row = _HANDLE.first(connection, {"id": run_id})
    if row is None:
        raise run_not_found(run_id)
    found: Json | None = row.handle
    return found


def descendants(connection: Connection, run_id: str) -> list[str]:
    """The runs below a run, oldest first; none for a run that is not there."""
    below = select(tables.runs.c.id, tables.runs.c.serial).where(tables.runs.c.parent_id == run_id).cte(recursive=True)
    below = below.union_all(
        select(tables.runs.c.id, tables.runs.c.serial).join(below, tables.runs.c.parent_id == below.c.id)
    )
    return list(connection.scalars(select(below.c.id).order_by(below.c.serial)))


def ancestors(connection: Connection, run_id: str) -> list[str]:
    """The run itself, its parent, and so on up; none for a run that is not there."""
    columns = (tables.runs.c.id, tables.runs.c.parent_id)
    line = select(*columns, literal(0).label("height")).where(tables.runs.c.id == run_id).cte(recursive=True)
    line = line.union_all(select(*columns, line.c.height + 1).join(line, tables.runs.c.id == line.c.parent_id))
    return list(connection.scalars(select(line.c.id).order_by(line.c.height)))


def _with_labels(connection: Connection, found: Sequence[Any]) -> list[Run]:
    """The runs of some rows. Where they are many, one whose labels cannot be read is left out."""
    if not found:
        return []
    try:
        texts = labels.of(connection, [row.serial for row in found])
    except damage.ERRORS as error:
        damage.must_be(error)
        if len(found) == 1:
            raise
        return [run for row in found for run in _one_of_many(connection, row)]
    return [
        Run(
            id=row.id,
            number=row.number,
            workspace=row.workspace_name,
            experiment=row.experiment_name,
            experiment_id=row.experiment_id,
            parent_id=row.parent_id,
            root_id=row.root_id,
            kind=row.kind,
            type=row.type,
            name=row.name,
            display_name=row.display_name,
            description=row.description,
            status=row.status,
            reason=row.reason,
            target=row.target,
            created_at=row.created_at,
            started_at=row.started_at,
            ended_at=row.ended_at,
            tags=texts.get((row.serial, labels.TAG), {}),
            properties=texts.get((row.serial, labels.PROPERTY), {}),
            submitted_by=row.submitted_by,
            snapshot_id=row.snapshot_id,
            error=row.error,
            warnings=row.warnings or [],
            nodes=row.nodes,
            attempt=row.attempt,
            restart=row.restart,
            archived_at=row.archived_at,
            parameters=texts.get((row.serial, labels.PARAMETER), {}),
        )
        for row in found
    ]


def _one_of_many(connection: Connection, row: Any) -> list[Run]:
    try:
        return _with_labels(connection, [row])
    except damage.ERRORS as error:
        damage.note(connection, row.serial, error, *_KEYS)
        return []


def _check_snapshot(connection: Connection, snapshot_id: str | None) -> None:
    if snapshot_id is None:
        return
    if _SNAPSHOT.scalar(connection, {"id": snapshot_id}) is None:
        raise NotFound("snapshot_not_found", f"There is no snapshot {snapshot_id!r}.", "Send it first.")


def _place(connection: Connection, new: NewRun) -> tuple[str, str]:
    """The experiment and the root of a new run."""
    if new.parent_id is not None:
        parent = _BY_ID.first(connection, {"id": new.parent_id})
        if parent is None:
            raise run_not_found(new.parent_id)
        return parent.experiment_id, parent.root_id
    return new.experiment_id or experiments.ensure(connection, new.workspace, new.experiment).id, new.id
