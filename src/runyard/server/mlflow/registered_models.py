"""Registered models by MLflow's protocol: the names of the registry, with their descriptions, tags and aliases."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from sqlalchemy import Connection
from starlette.responses import Response

from runyard.server.mlflow import documents, model_versions
from runyard.server.mlflow.documents import Json
from runyard.server.mlflow.forms import Form, Pair, Sought, Text, listed, pairs
from runyard.server.mlflow.here import PREFIX, At
from runyard.server.mlflow.model_versions import NO_PROMPT, number
from runyard.server.responses.documents import answer
from runyard.store.assets import models
from runyard.store.assets.models import Model
from runyard.store.mlflow import matching, registry
from runyard.store.mlflow.language import Attributes
from runyard.store.mlflow.registry import Registered
from runyard.store.mlflow.run_search import milliseconds

router = APIRouter(prefix=f"{PREFIX}/registered-models", include_in_schema=False)

_TIMES = ("creation_timestamp", "last_updated_timestamp", "timestamp")
ATTRIBUTES = Attributes({name: name for name in ("name", *_TIMES)}, frozenset(_TIMES))


class Named(Form):
    name: str


class Create(Named):
    description: str | None = None
    tags: list[Pair] | None = None


class Update(Named):
    description: Text = ""


class Rename(Named):
    new_name: str


class Latest(Named):
    stages: list[str] | None = None


class Tag(Named):
    key: str
    value: Text = ""


class Alias(Named):
    alias: str
    version: str = ""


@router.post("/create")
def create(body: Create, here: At) -> Response:
    here.must_be_wide()
    with here.write() as connection:
        registry.create(connection, here.workspace, body.name, body.description, pairs(body.tags))
        return _answer(connection, here.workspace, body.name)


@router.get("/get")
def get(here: At, name: str = "") -> Response:
    here.must_be_wide()
    with here.read() as connection:
        return _answer(connection, here.workspace, name)


@router.get("/search")
def search(here: At, sought: Sought) -> Response:
    here.must_be_wide()
    wanted = matching.parse(sought.filter, sought.order_by, ATTRIBUTES)
    with here.read() as connection:
        rows = registry.find(connection, here.workspace)
        found, token = matching.page(
            rows, wanted, _values, 100 if sought.max_results is None else sought.max_results, sought.page_token
        )
        listed_models = [document(connection, here.workspace, row) for row in found]
    return answer(documents.page("registered_models", listed_models, token))


def _values(row: Registered) -> matching.Values:
    created, updated = milliseconds(row.created_at), milliseconds(row.updated_at)
    times = {"creation_timestamp": created, "last_updated_timestamp": updated, "timestamp": updated}
    return matching.Values({"name": row.name, **times}, {**NO_PROMPT, **row.tags})


@router.patch("/update")
def update(body: Update, here: At) -> Response:
    here.must_be_wide()
    with here.write() as connection:
        registry.change(connection, here.workspace, body.name, description=body.description)
        return _answer(connection, here.workspace, body.name)


@router.post("/rename")
def rename(body: Rename, here: At) -> Response:
    here.must_be_user("To rename a model")
    with here.write() as connection:
        model_versions.must_be_unused(_versions(connection, here.workspace, body.name))
        registry.rename(connection, here.workspace, body.name, body.new_name)
        return _answer(connection, here.workspace, body.new_name)


@router.delete("/delete")
def delete(body: Named, here: At) -> Response:
    here.must_be_user("To delete a model")
    with here.read() as connection:
        registry.get(connection, here.workspace, body.name)
        versions = _versions(connection, here.workspace, body.name)
        model_versions.must_be_unused(versions)
    for each in versions:
        models.remove(here.context.store, here.workspace, each.name, each.version)
    with here.write() as connection:
        registry.remove(connection, here.workspace, body.name)
    return answer({})


@router.post("/get-latest-versions")
def latest_versions(body: Latest, here: At) -> Response:
    here.must_be_wide()
    with here.read() as connection:
        row = registry.get(connection, here.workspace, body.name)
        return answer({"model_versions": _latest(connection, here.workspace, row, body.stages)})


@router.get("/get-latest-versions")
def latest_versions_by_address(
    here: At, name: str = "", stages: Annotated[list[str] | None, Query()] = None
) -> Response:
    return latest_versions(Latest(name=name, stages=stages), here)


@router.post("/set-tag")
def set_tag(body: Tag, here: At) -> Response:
    here.must_be_wide()
    with here.write() as connection:
        registry.change(connection, here.workspace, body.name, set_tags={body.key: body.value})
    return answer({})


@router.delete("/delete-tag")
def delete_tag(body: Tag, here: At) -> Response:
    here.must_be_wide()
    with here.write() as connection:
        registry.change(connection, here.workspace, body.name, remove_tag=body.key)
    return answer({})


@router.post("/alias")
def set_alias(body: Alias, here: At) -> Response:
    here.must_be_wide()
    with here.write() as connection:
        registry.get(connection, here.workspace, body.name)
        model = models.get(connection, here.workspace, body.name, number(body.name, body.version))
        registry.set_alias(connection, here.workspace, body.name, body.alias, model.version)
    return answer({})


@router.get("/alias")
def get_by_alias(here: At, name: str = "", alias: str = "") -> Response:
    here.must_be_wide()
    with here.read() as connection:
        version = registry.version_of(connection, here.workspace, name, alias)
        return answer({"model_version": model_versions.one(connection, here.workspace, name, version)})


@router.delete("/alias")
def delete_alias(body: Alias, here: At) -> Response:
    here.must_be_wide()
    with here.write() as connection:
        registry.get(connection, here.workspace, body.name)
        registry.remove_alias(connection, here.workspace, body.name, body.alias)
    return answer({})


def _answer(connection: Connection, workspace: str, name: str) -> Response:
    row = registry.get(connection, workspace, name)
    return answer({"registered_model": document(connection, workspace, row)})


def document(connection: Connection, workspace: str, row: Registered) -> Json:
    found: Json = {
        "name": row.name,
        "creation_timestamp": milliseconds(row.created_at),
        "last_updated_timestamp": milliseconds(row.updated_at),
        "tags": listed(row.tags),
        "aliases": [{"alias": alias, "version": str(version)} for alias, version in sorted(row.aliases.items())],
        "latest_versions": _latest(connection, workspace, row, None),
    }
    if row.description:
        found["description"] = row.description
    return found


def _latest(connection: Connection, workspace: str, row: Registered, stages: list[str] | None) -> list[Json]:
    """The newest version in each stage, or in those that are asked for."""
    found: dict[str, Json] = {}
    for version in model_versions.several(connection, workspace, _versions(connection, workspace, row.name)):
        found.setdefault(version["current_stage"], version)
    wanted = None if not stages else {model_versions.stage_of(each) for each in stages}
    return [version for stage, version in found.items() if wanted is None or stage in wanted]


def _versions(connection: Connection, workspace: str, name: str) -> list[Model]:
    """The versions of a model, newest first."""
    wanted, before = models.ModelFilter(name=name), None
    found: list[Model] = []
    while True:
        some, before = models.find(connection, workspace, wanted, 1000, before)
        found += some
        if before is None:
            return found
