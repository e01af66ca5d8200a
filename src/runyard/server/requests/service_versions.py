"""What is asked of the versions of an endpoint, stored: a new one, another share of the requests, one less."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection

from runyard.contracts.services import states
from runyard.server.context import ServerContext
from runyard.server.requests import service as requests
from runyard.server.requests.service import VersionRequest
from runyard.server.requests.service_changes import FIXED, act_on, read_again, replicas_of, with_changes, without
from runyard.store.assets import services
from runyard.store.assets.services import Service, Version
from runyard.store.errors import Conflict, NotFound

Json = dict[str, Any]


def add_version(context: ServerContext, workspace: str, name: str, version: str, asked: VersionRequest) -> Service:
    requests.checked_name(version, "version")

    def act(connection: Connection, row: Service) -> Service:
        _must_be_endpoint(row)
        if row.version(version) is not None:
            raise Conflict(
                "service_exists", f"The endpoint {name!r} has a version {version!r} already.", "Change it, or rename."
            )
        if len(row.versions) >= states.MOST_VERSIONS:
            raise requests.bad(f"The endpoint {name!r} has {len(row.versions)} versions, which is the most.")
        settings = requests.checked_settings(without(asked.settings, FIXED), row.settings)
        share = asked.traffic_percentile or 0.0
        _check_shares(row, version, share)
        services.add_version(
            connection, row, version, replicas_of(settings), share, bool(asked.is_default), bool(asked.is_control)
        )
        new = requests.revision(connection, context.store.objects, context.secrets, workspace, asked, version, settings)
        services.add_revision(connection, row, new)
        operation = services.begun("create_version", f"Bringing up version {version}")
        return services.change(connection, row, state=states.TRANSITIONING, operation=operation)

    return act_on(context, workspace, name, act)


def change_version(context: ServerContext, workspace: str, name: str, version: str, asked: VersionRequest) -> Service:
    def act(connection: Connection, row: Service) -> Service:
        _must_be_endpoint(row)
        found = _version(row, version)
        values: Json = {}
        if asked.traffic_percentile is not None:
            _check_shares(row, version, asked.traffic_percentile)
            values["traffic"] = asked.traffic_percentile
        for flag in ("is_default", "is_control"):
            if getattr(asked, flag) is not None:
                values[flag] = getattr(asked, flag)
        if values.get("is_default") is False and found.is_default:
            raise requests.bad(f"{version!r} is the default version: make another one the default instead.")
        services.set_version(connection, row, version, **values)
        row = read_again(connection, row)
        return with_changes(context, connection, row, _version(row, version), asked)

    return act_on(context, workspace, name, act)


def remove_version(context: ServerContext, workspace: str, name: str, version: str) -> Service:
    def act(connection: Connection, row: Service) -> Service:
        _must_be_endpoint(row)
        found = _version(row, version)
        if found.is_default:
            raise requests.bad(
                f"{version!r} is the default version of {name!r}: make another one the default first, or remove the "
                "whole endpoint."
            )
        services.remove_version(connection, row, version)
        return services.change(connection, row, operation=services.begun("delete_version", f"Stopping {version}"))

    return act_on(context, workspace, name, act)


def _version(row: Service, name: str) -> Version:
    found = row.version(name)
    if found is None:
        raise NotFound(
            "version_not_found",
            f"The endpoint {row.name!r} has no version {name!r}.",
            f"It has: {', '.join(each.name for each in row.versions)}.",
        )
    return found


def _must_be_endpoint(row: Service) -> None:
    if row.kind != states.ENDPOINT:
        raise requests.bad(f"{row.name!r} is no endpoint: only those have versions.")


def _check_shares(row: Service, version: str, share: float) -> None:
    total = share + sum(each.traffic for each in row.versions if each.name != version and not each.is_default)
    if total > 100:
        raise requests.bad(f"The versions beside the default one would get {total:g} % of the requests.")
