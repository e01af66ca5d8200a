"""Services: their settings, versions, revisions and replicas. What is done with them is decided by the scheduler.

A service has one version, whose name is empty; an endpoint has several, with shares of the requests. A version has the
revision that serves and the one that is wanted: as long as they differ, an update is under way.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any

from sqlalchemy import Connection, Row, delete, func, insert, select, update

from runyard.contracts.services import states
from runyard.contracts.services.settings import Settings, from_dict
from runyard.store import tables
from runyard.store.assets import models
from runyard.store.content import build_contexts
from runyard.store.errors import Conflict, NotFound
from runyard.store.runs import runs, workspaces
from runyard.store.tables import service_replicas, service_revisions, service_versions, services

Json = dict[str, Any]

KEPT_STEPS = 200
"""Steps of an operation that are kept."""


@dataclass(frozen=True)
class Version:
    name: str
    current: int | None
    wanted: int | None
    replicas: int
    traffic: float
    is_default: bool
    is_control: bool


@dataclass(frozen=True)
class Revision:
    number: int
    version: str
    models: list[Json]
    launch: Json
    settings: Settings
    snapshot_id: str | None
    state: str
    reason: str | None
    created_at: datetime


@dataclass(frozen=True)
class Replica:
    """A run that belongs to a service. `state` is one of `contracts.services.states`; `seen` what was last reported."""

    run_id: str
    status: str
    reason: str | None
    error: Json | None
    version: str
    revision: int
    role: str
    state: str
    seen: Json
    created_at: datetime

    @property
    def ready(self) -> bool:
        return self.state == states.READY


@dataclass(frozen=True)
class Service:
    serial: int
    id: str
    workspace: str
    name: str
    kind: str
    state: str
    error: Json | None
    operation: Json
    settings: Settings
    port: int
    keys: dict[str, str]
    tags: dict[str, str]
    properties: dict[str, str]
    description: str | None
    compute_target: str | None
    created_at: datetime
    updated_at: datetime
    versions: list[Version] = field(default_factory=list)

    def version(self, name: str) -> Version | None:
        return next((each for each in self.versions if each.name == name), None)


@dataclass(frozen=True)
class NewService:
    workspace: str
    name: str
    kind: str
    settings: Settings
    port: int
    keys: Mapping[str, str]
    tags: Mapping[str, str]
    properties: Mapping[str, str]
    description: str | None
    compute_target: str | None


@dataclass(frozen=True)
class NewRevision:
    version: str
    models: Sequence[Json]  # {"name", "version", "tree", "root", ...}
    launch: Json  # {"entry_script", "environment", "interpreter", "shell", ...}
    settings: Settings
    snapshot_id: str | None
    reason: str


# -- services ---------------------------------------------------------------------------------------------------------


def exists(workspace: str, name: str) -> Conflict:
    """What a request gets that would make a service anew."""
    return Conflict(
        "service_exists",
        f"There is a service {name!r} in the workspace {workspace!r} already.",
        "Use another name, replace it (overwrite=True, or --overwrite on the command line), or remove it: "
        f"`runyard services rm {name}`.",
        {"service": name},
    )


def create(connection: Connection, new: NewService) -> Service:
    here = workspaces.serial(connection, new.workspace)
    now = _now()
    if look_up(connection, new.workspace, new.name) is not None:
        raise exists(new.workspace, new.name)
    row = {
        "id": uuid.uuid4().hex,
        "workspace": here,
        "name": new.name,
        "kind": new.kind,
        "state": states.TRANSITIONING,
        "operation": begun("create"),
        "settings": new.settings.as_dict(),
        "port": new.port,
        "keys": dict(new.keys),
        "tags": dict(new.tags),
        "properties": dict(new.properties),
        "description": new.description,
        "compute_target": new.compute_target,
        "created_at": now,
        "updated_at": now,
    }
    connection.execute(insert(services).values(row))
    return get(connection, new.workspace, new.name)


def look_up(connection: Connection, workspace: str, name: str) -> Service | None:
    query = _rows().where(tables.workspaces.c.name == workspace, services.c.name == name)
    row = connection.execute(query).first()
    return None if row is None else _service(connection, row)


def get(connection: Connection, workspace: str, name: str) -> Service:
    found = look_up(connection, workspace, name)
    if found is None:
        raise not_found(workspace, name)
    return found


def by_id(connection: Connection, id: str) -> Service | None:
    row = connection.execute(_rows().where(services.c.id == id)).first()
    return None if row is None else _service(connection, row)


def find(connection: Connection, workspace: str | None = None) -> list[Service]:
    """The services of a workspace, or of all, by name."""
    query = _rows().order_by(services.c.name)
    if workspace is not None:
        workspaces.serial(connection, workspace)  # refused when there is none
        query = query.where(tables.workspaces.c.name == workspace)
    return [_service(connection, row) for row in connection.execute(query).all()]


def change(connection: Connection, service: Service, **values: Any) -> Service:
    """Store other values of some columns."""
    if isinstance(values.get("settings"), Settings):
        values["settings"] = values["settings"].as_dict()
    values.setdefault("updated_at", _now())
    connection.execute(update(services).where(services.c.serial == service.serial).values(values))
    changed = by_id(connection, service.id)
    assert changed is not None
    return changed


def remove(connection: Connection, service: Service) -> None:
    models.set_uses(connection, service.workspace, service.name, [])
    connection.execute(delete(services).where(services.c.serial == service.serial))


def ports(connection: Connection) -> dict[int, str]:
    """The ports that services have, and the names of those."""
    return {row.port: row.name for row in connection.execute(select(services.c.port, services.c.name))}


def not_found(workspace: str, name: str) -> NotFound:
    return NotFound(
        "service_not_found",
        f"WebserviceNotFound: there is no service {name!r} in the workspace {workspace!r}.",
        "`runyard services ls` lists the services.",
        {"service": name},
    )


# -- operations -------------------------------------------------------------------------------------------------------


def begun(what: str, text: str = "") -> Json:
    """An operation that has just begun."""
    steps = [{"time": stamp(), "text": text or "Accepted"}]
    return {"id": str(uuid.uuid4()), "what": what, "state": states.RUNNING, "steps": steps, "error": None}


def with_step(operation: Json, text: str) -> Json:
    """The operation with a step more, unless that was the last one."""
    steps = list(operation.get("steps", ()))
    if steps and steps[-1]["text"] == text:
        return operation
    return {**operation, "steps": [*steps, {"time": stamp(), "text": text}][-KEPT_STEPS:]}


def stamp() -> str:
    return _now().strftime("%Y-%m-%dT%H:%M:%S.%fZ")


# -- versions and revisions -------------------------------------------------------------------------------------------


def add_version(
    connection: Connection, service: Service, name: str, replicas: int, traffic: float, default: bool, control: bool
) -> None:
    row = {
        "service": service.serial,
        "name": name,
        "replicas": replicas,
        "traffic": traffic,
        "is_default": 0,
        "is_control": 0,
        "created_at": _now(),
    }
    connection.execute(insert(service_versions).values(row))
    set_version(connection, service, name, is_default=default, is_control=control)


def set_version(connection: Connection, service: Service, name: str, **values: Any) -> None:
    """Change a version. One that becomes the default, or the control, takes that from the others."""
    of_service = service_versions.c.service == service.serial
    for flag in ("is_default", "is_control"):
        if values.get(flag):
            connection.execute(update(service_versions).where(of_service).values({flag: 0}))
        if flag in values:
            values[flag] = int(bool(values[flag]))
    if values:
        connection.execute(update(service_versions).where(of_service, service_versions.c.name == name).values(values))


def remove_version(connection: Connection, service: Service, name: str) -> None:
    connection.execute(
        delete(service_versions).where(service_versions.c.service == service.serial, service_versions.c.name == name)
    )


def add_revision(connection: Connection, service: Service, new: NewRevision) -> int:
    """Store a revision, and want it; returns its number."""
    last = connection.scalar(
        select(func.max(service_revisions.c.number)).where(service_revisions.c.service == service.serial)
    )
    number = (last or 0) + 1
    row = {
        "service": service.serial,
        "number": number,
        "version": new.version,
        "models": list(new.models),
        "launch": new.launch,
        "settings": new.settings.as_dict(),
        "snapshot_id": new.snapshot_id,
        "context": build_contexts.of_launch(connection, new.launch),
        "state": states.NEW,
        "reason": new.reason,
        "created_at": _now(),
    }
    connection.execute(insert(service_revisions).values(row))
    set_version(connection, service, new.version, wanted=number)
    return number


def revisions(connection: Connection, service: Service) -> list[Revision]:
    """All that are kept, the newest first."""
    query = select(service_revisions).where(service_revisions.c.service == service.serial)
    rows = connection.execute(query.order_by(service_revisions.c.number.desc()))
    return [
        Revision(
            row.number,
            row.version,
            row.models,
            row.launch,
            _settings(row.settings),
            row.snapshot_id,
            row.state,
            row.reason,
            row.created_at,
        )
        for row in rows
    ]


def in_use(service: Service) -> set[int]:
    """The numbers of the revisions that serve or are to serve."""
    return {number for each in service.versions for number in (each.current, each.wanted) if number is not None}


def note_uses(connection: Connection, service: Service) -> None:
    """Have the models know which services need them: those of the revisions in use."""
    numbers = in_use(service)
    used = {
        (each["name"], each["version"])
        for revision in revisions(connection, service)
        if revision.number in numbers
        for each in revision.models
    }
    models.set_uses(connection, service.workspace, service.name, sorted(used))


def set_revision(connection: Connection, service: Service, number: int, state: str, reason: str | None = None) -> None:
    values: Json = {"state": state}
    if reason is not None:
        values["reason"] = reason
    of_it = (service_revisions.c.service == service.serial) & (service_revisions.c.number == number)
    connection.execute(update(service_revisions).where(of_it).values(values))


# -- replicas ---------------------------------------------------------------------------------------------------------


def add_replica(
    connection: Connection, service: Service, run_id: str, version: str, revision: int, role: str = states.WORKER
) -> None:
    row = {
        "run": runs.serial_of(connection, run_id),
        "service": service.serial,
        "version": version,
        "revision": revision,
        "role": role,
        "state": states.STARTING,
        "seen": {},
    }
    connection.execute(insert(service_replicas).values(row))


def replicas(connection: Connection, service: Service) -> list[Replica]:
    """All replicas whose runs are there, the oldest first."""
    query = (
        select(service_replicas, *(tables.runs.c[name] for name in ("id", "status", "reason", "error", "created_at")))
        .join(tables.runs, tables.runs.c.serial == service_replicas.c.run)
        .where(service_replicas.c.service == service.serial)
        .order_by(service_replicas.c.run)
    )
    return [
        Replica(
            row.id, row.status, row.reason, row.error, row.version, row.revision, row.role, row.state, row.seen,
            row.created_at,
        )
        for row in connection.execute(query)
    ]  # fmt: skip


def service_of_run(connection: Connection, run_id: str) -> str | None:
    """The id of the service that a run is a replica of."""
    query = (
        select(services.c.id)
        .join(service_replicas, service_replicas.c.service == services.c.serial)
        .join(tables.runs, tables.runs.c.serial == service_replicas.c.run)
        .where(tables.runs.c.id == run_id)
    )
    found: str | None = connection.scalar(query)
    return found


def set_replica(connection: Connection, run_id: str, state: str, seen: Json | None = None) -> None:
    values: Json = {"state": state} if seen is None else {"state": state, "seen": seen}
    whose = service_replicas.c.run == select(tables.runs.c.serial).where(tables.runs.c.id == run_id).scalar_subquery()
    connection.execute(update(service_replicas).where(whose).values(values))


# -- within -----------------------------------------------------------------------------------------------------------


def _rows() -> Any:
    return select(services, tables.workspaces.c.name.label("workspace_name")).join(
        tables.workspaces, services.c.workspace == tables.workspaces.c.serial
    )


def _service(connection: Connection, row: Row[Any]) -> Service:
    query = select(service_versions).where(service_versions.c.service == row.serial)
    found = [
        Version(
            each.name,
            each.current,
            each.wanted,
            each.replicas,
            each.traffic,
            bool(each.is_default),
            bool(each.is_control),
        )
        for each in connection.execute(query.order_by(service_versions.c.created_at, service_versions.c.name))
    ]
    return Service(
        serial=row.serial,
        id=row.id,
        workspace=row.workspace_name,
        name=row.name,
        kind=row.kind,
        state=row.state,
        error=row.error,
        operation=row.operation,
        settings=_settings(row.settings),
        port=row.port,
        keys=row.keys,
        tags=row.tags,
        properties=row.properties,
        description=row.description,
        compute_target=row.compute_target,
        created_at=row.created_at,
        updated_at=row.updated_at,
        versions=found,
    )


def _settings(document: Json) -> Settings:
    return from_dict(document, Settings(allow_unauthenticated=True))


def _now() -> datetime:
    return datetime.now(timezone.utc)
