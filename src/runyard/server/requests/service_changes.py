"""What is asked of services, stored: a new one, a revision, another number of replicas. The scheduler does it."""

from __future__ import annotations

import secrets as random
from collections.abc import Callable, Mapping
from typing import Any

from sqlalchemy import Connection

from runyard.contracts.services import states
from runyard.contracts.services.settings import Settings, of_kind
from runyard.scheduler.services import ports
from runyard.server.context import ServerContext
from runyard.server.requests import service as requests
from runyard.server.requests.service import RevisionRequest, ServiceRequest
from runyard.store.assets import services
from runyard.store.assets.services import NewService, Revision, Service, Version
from runyard.store.errors import Conflict

Json = dict[str, Any]

FIXED = ("host", "port")
"""Settings that a service keeps: whoever calls it knows them."""

SCALED = ("replicas", "autoscale")
"""Settings that make no new revision: the processes are the same, more or fewer."""


def deploy(context: ServerContext, workspace: str, asked: ServiceRequest) -> Service:
    """A new service; with `overwrite`, a new revision of the one that is there."""
    requests.checked_name(asked.name)
    with context.store.database.read() as connection:
        found = services.look_up(connection, workspace, asked.name)
    if found is not None and asked.overwrite and found.state != states.DELETING:
        return _overwrite(context, found, asked)
    settings = requests.checked_settings(asked.settings, of_kind(asked.kind))
    version = _first_version(asked)
    with context.store.database.read() as connection:  # refused before a port is looked for and a key is made
        if found is not None:
            raise _exists(found)
        requests.revision(connection, context.store.objects, context.secrets, workspace, asked, version, settings)
        taken = services.ports(connection)
    port = ports.check(settings.host, settings.port, taken) if settings.port else ports.pick(settings.host, taken)
    names = {each: context.secrets.keep_own(random.token_urlsafe(32)) for each in ("primary", "secondary", "signing")}
    try:
        with context.store.database.write() as connection:
            ports.must_be_free(port, services.ports(connection))  # another one may have come in between
            row = services.create(
                connection,
                NewService(
                    workspace=workspace,
                    name=asked.name,
                    kind=asked.kind,
                    settings=settings,
                    port=port,
                    keys=names,
                    tags=asked.tags or {},
                    properties=asked.properties or {},
                    description=asked.description,
                    compute_target=asked.compute_target,
                ),
            )
            traffic = 100.0 if asked.traffic_percentile is None else asked.traffic_percentile
            services.add_version(connection, row, version, replicas_of(settings), traffic, True, False)
            new = requests.revision(
                connection, context.store.objects, context.secrets, workspace, asked, version, settings
            )
            services.add_revision(connection, row, new)
            row = _noted(connection, row)
    except BaseException:
        for name in names.values():
            context.secrets.forget(name)
        raise
    return _told(context, row)


def change(context: ServerContext, workspace: str, name: str, asked: RevisionRequest) -> Service:
    """Change a service. What its processes must know makes a new revision, which takes the place of the old one."""

    def act(connection: Connection, row: Service) -> Service:
        changed = with_changes(context, connection, row, _default(row), asked)
        if "authentication" in asked.settings:
            # Who may call an endpoint is asked of all its versions: none may go on under the former rule.
            alike = RevisionRequest(models=None, settings={"authentication": asked.settings["authentication"]})
            for version in row.versions:
                if not version.is_default:
                    changed = with_changes(context, connection, read_again(connection, changed), version, alike)
        return changed

    return act_on(context, workspace, name, act)


def scale(context: ServerContext, workspace: str, name: str, replicas: int) -> Service:
    """Give a service so many replicas; it is not scaled by load any more."""
    if replicas == 0:
        raise requests.bad(
            "A service has at least one replica. One that is to have none while nobody calls it has `autoscale` with a "
            "`min` of 0; `runyard services rm` removes one."
        )
    asked = RevisionRequest(models=None, settings={"replicas": replicas, "autoscale": {"enabled": False}})
    return change(context, workspace, name, asked)


def roll_back(context: ServerContext, workspace: str, name: str) -> Service:
    """Want the revision again that served before the current one."""

    def act(connection: Connection, row: Service) -> Service:
        version = _default(row)
        found = services.revisions(connection, row)
        former = [
            each
            for each in found
            if each.version == version.name and each.state == states.SUPERSEDED and each.number < (version.current or 0)
        ]
        if not former:
            raise Conflict(
                "no_former_revision",
                f"There is no revision before the one that {name!r} serves.",
                f"`runyard services show {name}` lists the revisions.",
            )
        target = former[0]
        services.set_version(connection, row, version.name, wanted=target.number)
        services.set_revision(connection, row, target.number, states.NEW, "rolled back to")
        text = f"Going back from revision {version.current} to revision {target.number}"
        changed = services.change(
            connection, row, state=states.TRANSITIONING, operation=services.begun("rollback", text)
        )
        return services.change(connection, changed, settings=_kept(row.settings, target.settings))

    return act_on(context, workspace, name, act)


def remove(context: ServerContext, workspace: str, name: str) -> Service:
    """Have a service stopped and removed."""

    def act(connection: Connection, row: Service) -> Service:
        if row.state == states.DELETING:
            return row
        return services.change(
            connection, row, state=states.DELETING, operation=services.begun("delete", "Stopping its replicas")
        )

    return act_on(context, workspace, name, act, deleting=True)


# -- within -----------------------------------------------------------------------------------------------------------


def replicas_of(settings: Settings) -> int:
    """How many replicas a service begins with."""
    return max(1, settings.autoscale.min) if settings.autoscale.enabled else settings.replicas


def _overwrite(context: ServerContext, row: Service, asked: ServiceRequest) -> Service:
    if (row.kind == states.ENDPOINT) != (asked.kind == states.ENDPOINT):
        raise Conflict(
            "service_exists",
            f"{row.name!r} is a service of the kind {row.kind!r}, and cannot become one of the kind {asked.kind!r}.",
            f"Remove it first: `runyard services rm {row.name}`.",
        )
    given = without(asked.settings, FIXED)
    base = Settings(**{**vars(of_kind(asked.kind)), "host": row.settings.host, "port": row.settings.port})
    asked.settings = {}

    def act(connection: Connection, row: Service) -> Service:
        settings = requests.checked_settings(given, base)
        version = _default(row)
        new = requests.revision(
            connection,
            context.store.objects,
            context.secrets,
            row.workspace,
            asked,
            version.name,
            settings,
            reason="overwritten",
        )
        services.set_version(connection, row, version.name, replicas=replicas_of(settings))
        number = services.add_revision(connection, row, new)
        return services.change(
            connection,
            row,
            kind=asked.kind,
            settings=settings,
            tags=asked.tags or {},
            properties=asked.properties or {},
            description=asked.description,
            compute_target=asked.compute_target,
            state=states.TRANSITIONING,
            operation=services.begun("overwrite", f"Bringing up revision {number}"),
        )

    return act_on(context, row.workspace, row.name, act)


def with_changes(
    context: ServerContext, connection: Connection, row: Service, version: Version, asked: RevisionRequest
) -> Service:
    """Store what is asked of a version: a new revision where its processes must know of it."""
    values: Json = {}
    if asked.tags is not None:
        values["tags"] = asked.tags
    if asked.description is not None:
        values["description"] = asked.description
    if asked.properties is not None:
        values["properties"] = _with_properties(row, asked.properties)
    same = {"host": (None, row.settings.host), "port": (None, row.settings.port, row.port)}
    fixed = [name for name in FIXED if asked.settings.get(name) not in same[name]]
    if fixed:
        raise requests.bad(
            f"A service keeps its {fixed[0]}, so that its callers find it: to change it, remove and deploy it again."
        )
    former = _wanted(services.revisions(connection, row), version)
    # Not the settings of the service: those are of its default version, or of an update that did not come up.
    settings = requests.checked_settings(without(asked.settings, FIXED), _kept(row.settings, former.settings))
    differs = "replicas" in asked.settings and not settings.autoscale.enabled and version.replicas != settings.replicas
    scaled = differs or _scale(settings) != _scale(row.settings)
    new_code = asked.models is not None or asked.launch is not None
    if new_code or _for_processes(settings) != _for_processes(former.settings):
        new = requests.revision(
            connection,
            context.store.objects,
            context.secrets,
            row.workspace,
            asked,
            version.name,
            settings,
            former,
            "updated",
        )
        number = services.add_revision(connection, row, new)
        values["operation"] = services.begun("update", f"Bringing up revision {number}")
        values["state"] = states.TRANSITIONING
    elif scaled:
        values["operation"] = services.begun("scale", _words(settings))
    values["settings"] = settings if version.is_default else _kept(settings, row.settings)
    if scaled:
        services.set_version(connection, row, version.name, replicas=replicas_of(settings))
    return services.change(connection, row, **values)


def _words(settings: Settings) -> str:
    scale = settings.autoscale
    return f"Scaling between {scale.min} and {scale.max}" if scale.enabled else f"Scaling to {settings.replicas}"


def _for_processes(settings: Settings) -> Json:
    """What processes must be started anew for. One that may have no replica has a gateway in front of them."""
    return {**without(settings.as_dict(), (*FIXED, *SCALED)), "on_demand": settings.on_demand}


def _scale(settings: Settings) -> Json:
    return {name: value for name, value in settings.as_dict().items() if name in SCALED}


def _kept(now: Settings, former: Settings) -> Settings:
    """The settings of a former revision, where it is and as many replicas as there are now."""
    return Settings(**{**vars(former), **{name: getattr(now, name) for name in (*FIXED, *SCALED)}})


def without(given: Mapping[str, Any], left_out: tuple[str, ...]) -> Json:
    return {name: value for name, value in given.items() if name not in left_out}


def _with_properties(row: Service, added: Mapping[str, str]) -> dict[str, str]:
    for key, value in added.items():
        if row.properties.get(key, value) != value:
            raise Conflict(
                "property_fixed", f"The property {key!r} of {row.name!r} is set already.", "Use another name, or a tag."
            )
    return {**row.properties, **added}


def _wanted(found: list[Revision], version: Version) -> Revision:
    return next(each for each in found if each.number == (version.wanted or version.current))


def act_on(
    context: ServerContext,
    workspace: str,
    name: str,
    act: Callable[[Connection, Service], Service],
    deleting: bool = False,
) -> Service:
    """Do something to a service in one transaction, and have the scheduler look at it."""
    with context.store.database.write() as connection:
        row = services.get(connection, workspace, name)
        if row.state == states.DELETING and not deleting:
            raise Conflict("service_busy", f"The service {name!r} is being removed.", "Wait until it is gone.")
        row = act(connection, row)
        row = _noted(connection, row)
    return _told(context, row)


def _told(context: ServerContext, row: Service) -> Service:
    context.scheduler.services.changed(row.id)
    return row


def read_again(connection: Connection, row: Service) -> Service:
    found = services.by_id(connection, row.id)
    assert found is not None
    return found


def _noted(connection: Connection, row: Service) -> Service:
    row = read_again(connection, row)
    services.note_uses(connection, row)
    return row


def _default(row: Service) -> Version:
    return next((each for each in row.versions if each.is_default), row.versions[0])


def _first_version(asked: ServiceRequest) -> str:
    if asked.kind != states.ENDPOINT:
        if asked.version_name or asked.traffic_percentile is not None:
            raise requests.bad("Only an endpoint has versions with shares of the requests.")
        return ""
    return requests.checked_name(asked.version_name or "default", "version")


def _exists(row: Service) -> Conflict:
    if row.state == states.DELETING:
        return Conflict("service_busy", f"The service {row.name!r} is being removed.", "Wait until it is gone.")
    return services.exists(row.workspace, row.name)
