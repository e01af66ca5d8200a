"""Routes of environments: registering, finding and labelling them. Curated ones are there without being registered."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, JsonValue
from sqlalchemy import Connection
from starlette.responses import Response

from runyard.contracts import curated
from runyard.server.context import Context
from runyard.server.middleware.auth import AnyCaller, User
from runyard.server.middleware.problems import Problem
from runyard.server.middleware.reach import Within
from runyard.server.requests import definitions, named_secrets
from runyard.server.responses import documents
from runyard.server.responses.documents import Json, answer
from runyard.store import damage
from runyard.store.assets import environments
from runyard.store.errors import NotFound
from runyard.store.runs import workspaces

router = APIRouter(prefix="/api/workspaces/{workspace}/environments", tags=["environments"])


class NewEnvironment(BaseModel):
    model_config = ConfigDict(extra="forbid")

    definition: dict[str, JsonValue]


class Labels(BaseModel):
    model_config = ConfigDict(extra="forbid")

    labels: list[str]


@router.get("", summary="The latest version of every environment, curated ones included")
def find(workspace: Within, context: Context) -> Response:
    with context.store.database.read() as connection:
        rows = environments.latest(connection, workspace)
        damaged = damage.seen(connection)
    known = [documents.environment(row) for row in rows]
    ours = [documents.curated_environment(found) for name in curated.names() if (found := curated.find(name))]
    return answer({"environments": [*known, *ours], "damaged": damaged})


@router.post("", summary="Register an environment: the same content has the same version")
def register(workspace: Within, body: NewEnvironment, caller: AnyCaller, context: Context) -> Response:
    _refuse_reserved(environments.check_name(body.definition.get("name")))
    definition = definitions.veiled(body.definition, context.secrets)
    named_secrets.check_definition(context, caller, body.definition)
    with context.store.database.write() as connection:
        row = environments.register(connection, workspace, definition)
    return answer(documents.environment(row))


@router.get("/{name}", summary="One version of an environment: the latest, unless a version or a label is given")
def get(
    workspace: Within, name: str, context: Context, version: str | None = None, label: str | None = None
) -> Response:
    with context.store.database.read() as connection:
        if found := _curated(connection, workspace, name):
            return answer(found)
        row = environments.get(connection, workspace, name, version, label)
    return answer(documents.environment(row))


@router.get("/{name}/versions", summary="All versions of an environment, newest first")
def versions(workspace: Within, name: str, context: Context) -> Response:
    with context.store.database.read() as connection:
        if found := _curated(connection, workspace, name):
            return answer({"environments": [found]})
        rows = environments.versions(connection, workspace, name)
    return answer({"environments": [documents.environment(row) for row in rows]})


@router.put("/{name}/versions/{version}/labels", summary="Let labels point at a version", dependencies=[User])
def label(workspace: str, name: str, version: str, body: Labels, context: Context) -> Response:
    _refuse_reserved(name)
    with context.store.database.write() as connection:
        row = environments.label(connection, workspace, name, version, body.labels)
    return answer(documents.environment(row))


def _curated(connection: Connection, workspace: str, name: str) -> Json | None:
    """A curated environment: there is one version of it, whichever is asked for."""
    if not curated.is_reserved(name):
        return None
    workspaces.serial(connection, workspace)
    found = curated.find(name)
    if found is None:
        raise _unknown(connection, workspace, name)
    return documents.curated_environment(found)


def _unknown(connection: Connection, workspace: str, name: str) -> NotFound:
    return environments.not_found(workspace, name, [*environments.names(connection, workspace), *curated.names()])


def _refuse_reserved(name: str) -> None:
    if curated.is_reserved(name):
        raise Problem(
            "environment_reserved",
            f"{name!r} is no name for an environment of your own: names that begin with AzureML or Microsoft are "
            "those of curated environments.",
            "Give it another name (`env.clone('mine')` makes a copy under one).",
        )
