"""Versions of registered models by MLflow's protocol. They are the models of the registry that everybody uses."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter
from sqlalchemy import Connection
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from runyard.contracts import names
from runyard.server.middleware.problems import Problem
from runyard.server.mlflow import documents
from runyard.server.mlflow.documents import Json
from runyard.server.mlflow.forms import Form, Pair, Sought, Text, listed, pairs
from runyard.server.mlflow.here import PREFIX, At, Here
from runyard.server.responses.documents import answer
from runyard.store.assets import model_content, models
from runyard.store.assets.model_content import Content
from runyard.store.assets.models import Details, Model, ModelFilter
from runyard.store.errors import Conflict, NotFound
from runyard.store.mlflow import logged_models, matching, registry
from runyard.store.mlflow.language import Attributes
from runyard.store.mlflow.logged_models import OUTPUTS
from runyard.store.mlflow.registry import Origin
from runyard.store.mlflow.run_search import SCHEME, milliseconds

router = APIRouter(prefix=f"{PREFIX}/model-versions", include_in_schema=False)

FRAMEWORK = "MLflow"
"""The framework of a version that a client of MLflow has registered."""

MOST_VERSIONS = 200_000
"""In one answer, where the client does not say."""

NO_PROMPT = {"mlflow.prompt.is_prompt": "false"}
"""A tag that clients ask for with every search: prompts are registered as models too, and have it."""

_NUMBERS = ("version_number", "creation_timestamp", "last_updated_timestamp", "timestamp")
ATTRIBUTES = Attributes(
    {
        **{name: name for name in ("name", "run_id", "source_path", "source", "current_stage", "user_id", *_NUMBERS)},
        "version": "version_number",
    },
    frozenset(_NUMBERS),
)

_OF_RUN = re.compile(r"runs:/+([^/]+)/(.+)", re.DOTALL)
_OF_ARTIFACTS = re.compile(r"mlflow-artifacts:(?://[^/]*)?/+[^/]+/([^/]+)/artifacts/(.+)", re.DOTALL)
_OF_LOGGED = re.compile(r"mlflow-artifacts:(?://[^/]*)?/+[^/]+/models/([^/]+)/artifacts/?|models:/+(m-[0-9a-f]{32})/?")
_OF_VERSION = re.compile(
    r"models:/+([^/@]+)/([0-9]{1,17})|mlflow-artifacts:(?://[^/]*)?/+registry/([^/]+)/([0-9]{1,17})/?"
)
_OF_ALIAS = re.compile(r"models:/+([^/@]+)@(.+)")


class Named(Form):
    name: str
    version: str


class Create(Form):
    name: str
    source: str
    run_id: str | None = None
    model_id: str | None = None
    tags: list[Pair] | None = None
    run_link: str | None = None
    description: str | None = None


class Update(Named):
    description: Text = ""


class Stage(Named):
    stage: str
    archive_existing_versions: bool = False


class Tag(Named):
    key: str
    value: Text = ""


@router.post("/create")
async def create(body: Create, here: At) -> Response:
    if body.run_id:
        await run_in_threadpool(here.must_read, body.run_id)
        await here.context.pace.look(body.run_id)  # what it has by now is delivered before it is registered
    return answer({"model_version": await run_in_threadpool(_create, here, body)})


def _create(here: Here, body: Create) -> Json:
    here.must_be_wide()
    with here.write() as connection:
        registry.get(connection, here.workspace, body.name)
        content, run_id, logged = _content(connection, here, body)
        framework, details = FRAMEWORK, pairs(body.tags)
        made = models.register(
            connection,
            here.workspace,
            body.name,
            content,
            Details(framework=framework, tags=details, description=body.description or None),
            run_id or here.caller.run_id,
        )
        registry.put_origin(
            connection, made.serial, source=body.source, run_link=body.run_link or None, logged_model=logged
        )
        return one(connection, here.workspace, made.name, made.version)


def _content(connection: Connection, here: Here, body: Create) -> tuple[Content, str | None, str | None]:
    """The files that an address names, the run that they came from, and the logged model that they are, if any."""
    logged = _OF_LOGGED.fullmatch(body.source)
    model_id = (logged[1] or logged[2]) if logged else body.model_id
    if model_id:
        model = logged_models.get(connection, here.workspace, model_id)
        return _of_run(connection, here, model.run_id, model.place), body.run_id or model.source_run, model.id
    found = _OF_RUN.fullmatch(body.source) or _OF_ARTIFACTS.fullmatch(body.source)
    if found:
        path = names.check_file(f"{OUTPUTS}/{found[2]}")
        return _of_run(connection, here, found[1], path), body.run_id or found[1], None
    version = _OF_VERSION.fullmatch(body.source)
    if version:
        name, count = version[1] or version[3], version[2] or version[4]
        copied = models.get(connection, here.workspace, name, int(count))
        return copied.content, body.run_id or copied.run_id, None
    alias = _OF_ALIAS.fullmatch(body.source)
    if alias:
        count = registry.version_of(connection, here.workspace, alias[1], alias[2])
        copied = models.get(connection, here.workspace, alias[1], count)
        return copied.content, body.run_id or copied.run_id, None
    raise Problem(
        "bad_model",
        f"A model cannot be registered from {names.shown(body.source)}: its files are not on this server.",
        "Log it to a run first, and register `runs:/<run id>/<path>` or `models:/<model id>`.",
    )


def _of_run(connection: Connection, here: Here, run_id: str, path: str) -> Content:
    run = here.run(connection, run_id)
    if here.caller.run_id not in (None, run_id):
        here.must_read(run_id)
    return model_content.of_run(connection, run.id, path)


@router.get("/get")
def get(here: At, name: str = "", version: str = "") -> Response:
    here.must_be_wide()
    with here.read() as connection:
        return answer({"model_version": one(connection, here.workspace, name, number(name, version))})


@router.get("/search")
def search(here: At, sought: Sought) -> Response:
    here.must_be_wide()
    wanted = matching.parse(sought.filter, sought.order_by, ATTRIBUTES)
    with here.read() as connection:
        rows = several(connection, here.workspace, _all(connection, here.workspace))
    most = MOST_VERSIONS if sought.max_results is None else sought.max_results
    found, token = matching.page(rows, wanted, _values, most, sought.page_token)
    return answer(documents.page("model_versions", found, token))


def _all(connection: Connection, workspace: str) -> list[Model]:
    found: list[Model] = []
    before: int | None = None
    while True:
        some, before = models.find(connection, workspace, ModelFilter(), 1000, before)
        found += some
        if before is None:
            return found


def _values(row: Json) -> matching.Values:
    return matching.Values(
        {
            **{name: row.get(name) for name in ("name", "run_id", "current_stage", "user_id", "source")},
            "source_path": row.get("source"),
            "version_number": int(row["version"]),
            "creation_timestamp": row["creation_timestamp"],
            "last_updated_timestamp": row["last_updated_timestamp"],
            "timestamp": row["last_updated_timestamp"],
        },
        {**NO_PROMPT, **{each["key"]: each["value"] for each in row["tags"]}},
    )


@router.patch("/update")
def update(body: Update, here: At) -> Response:
    return _changed(here, body, {"description": body.description})


@router.delete("/delete")
def delete(body: Named, here: At) -> Response:
    here.must_be_user("To delete a version of a model")
    with here.read():
        pass
    models.remove(here.context.store, here.workspace, body.name, number(body.name, body.version))
    return answer({})


@router.post("/transition-stage")
def transition(body: Stage, here: At) -> Response:
    here.must_be_wide()
    stage = stage_of(body.stage)
    with here.write() as connection:
        model = models.get(connection, here.workspace, body.name, number(body.name, body.version))
        if body.archive_existing_versions and stage in ("Staging", "Production"):
            for each in several(connection, here.workspace, _all(connection, here.workspace)):
                if each["name"] == body.name and each["current_stage"] == stage:
                    other = models.get(connection, here.workspace, body.name, int(each["version"]))
                    registry.put_origin(connection, other.serial, stage="Archived")
        registry.put_origin(connection, model.serial, stage=stage)
        return answer({"model_version": one(connection, here.workspace, model.name, model.version)})


@router.get("/get-download-uri")
def download_uri(here: At, name: str = "", version: str = "") -> Response:
    here.must_be_wide()
    with here.read() as connection:
        model = models.get(connection, here.workspace, name, number(name, version))
    return answer({"artifact_uri": f"{SCHEME}/registry/{model.name}/{model.version}"})


@router.post("/set-tag")
def set_tag(body: Tag, here: At) -> Response:
    _changed(here, body, {}, set_tags={body.key: body.value})
    return answer({})


@router.delete("/delete-tag")
def delete_tag(body: Tag, here: At) -> Response:
    _changed(here, body, {}, remove_tags=[body.key])
    return answer({})


def _changed(here: Here, body: Named, values: dict[str, Any], **tags: Any) -> Response:
    here.must_be_wide()
    with here.write() as connection:
        version = number(body.name, body.version)
        model = models.change(connection, here.workspace, body.name, version, values, **tags)
        registry.put_origin(connection, model.serial)
        return answer({"model_version": one(connection, here.workspace, model.name, model.version)})


# -- what other routes need -------------------------------------------------------------------------------------------


def number(name: str, version: str) -> int:
    """A version's number; NotFound for a text that is none."""
    if version.isascii() and version.isdigit() and 0 < len(version) < 18:
        return int(version)
    raise NotFound("model_not_found", f"The model {names.shown(name)} has no version {names.shown(version)}.")


def stage_of(given: str) -> str:
    for stage in registry.STAGES:
        if stage.lower() == given.lower():
            return stage
    title = f"{given[:40]!r} is no stage of a model."
    raise Problem("bad_model", title, f"Use {', '.join(registry.STAGES)}; or aliases, which have any name.")


def must_be_unused(versions: Sequence[Model]) -> None:
    """Refuse to delete a model that a service needs, before any version of it is gone."""
    for each in versions:
        if each.services:
            title = f"The model {each.id!r} is in use by {', '.join(each.services)}."
            raise Conflict("model_in_use", title, "Delete the service, or let it have another model.")


def one(connection: Connection, workspace: str, name: str, version: int) -> Json:
    return several(connection, workspace, [models.get(connection, workspace, name, version)])[0]


def several(connection: Connection, workspace: str, rows: Sequence[Model]) -> list[Json]:
    """Versions as MLflow's client reads them."""
    origins = registry.origins(connection, [row.serial for row in rows])
    only = rows[0].name if len({row.name for row in rows}) == 1 else None
    aliases: dict[tuple[str, int], list[str]] = {}
    for registered in registry.find(connection, workspace, only):
        for alias, version in registered.aliases.items():
            aliases.setdefault((registered.name, version), []).append(alias)
    return [
        _document(row, origins.get(row.serial, Origin()), sorted(aliases.get((row.name, row.version), ())))
        for row in rows
    ]


def _document(row: Model, origin: Origin, aliases: list[str]) -> Json:
    found: Json = {
        "name": row.name,
        "version": str(row.version),
        "creation_timestamp": milliseconds(row.created_at),
        "last_updated_timestamp": milliseconds(origin.updated_at or row.created_at),
        "current_stage": origin.stage,
        "source": origin.source or f"{SCHEME}/registry/{row.name}/{row.version}",
        "status": "READY",
        "tags": listed(row.details.tags),
        "aliases": aliases,
        "user_id": row.details.created_by or "",
    }
    more = {
        "description": row.details.description,
        "run_id": row.run_id,
        "run_link": origin.run_link,
        "model_id": origin.logged_model,
    }
    return {**found, **{key: value for key, value in more.items() if value}}
