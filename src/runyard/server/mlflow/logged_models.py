"""Logged models by MLflow's protocol."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from runyard.server.mlflow import documents
from runyard.server.mlflow.documents import Json
from runyard.server.mlflow.forms import Form, Pair, listed, pairs
from runyard.server.mlflow.here import PREFIX, At, Here
from runyard.server.responses.documents import answer
from runyard.store.errors import NotFound
from runyard.store.mlflow import logged_models, matching
from runyard.store.mlflow.language import ATTRIBUTE, Attributes, Condition, parse_filter
from runyard.store.mlflow.logged_models import LoggedModel
from runyard.store.mlflow.run_search import SCHEME, milliseconds

router = APIRouter(prefix=f"{PREFIX}/logged-models", include_in_schema=False)

_TIMES = ("creation_timestamp", "creation_time", "last_updated_timestamp", "last_updated_time")
ATTRIBUTES = Attributes(
    {name: name for name in ("name", "model_id", "model_type", "status", "source_run_id", *_TIMES)}, frozenset(_TIMES)
)


class Create(Form):
    experiment_id: str
    name: str | None = None
    model_type: str | None = None
    source_run_id: str | None = None
    params: list[Pair] | None = None
    tags: list[Pair] | None = None


class Finalize(Form):
    status: str


class Tags(Form):
    tags: list[Pair] | None = None


class Parameters(Form):
    params: list[Pair] | None = None


class Search(Form):
    experiment_ids: list[str] | None = None
    filter: str | None = None
    datasets: list[dict[str, Any]] | None = None
    max_results: int | None = None
    order_by: list[dict[str, Any]] | None = None
    page_token: str | None = None


@router.post("")
def create(body: Create, here: At) -> Response:
    here.ensure_default(body.experiment_id)
    if body.source_run_id:
        here.must_write(body.source_run_id)
    else:
        here.must_be_wide()
    with here.write() as connection:
        experiment = here.experiment(connection, body.experiment_id)
        if body.source_run_id:
            here.serial(connection, body.source_run_id)
        made = logged_models.create(
            connection,
            here.workspace,
            experiment,
            body.name or "",
            body.source_run_id or None,
            body.model_type,
            pairs(body.params),
            pairs(body.tags),
        )
    return _answer(made)


@router.post("/search")
def search(body: Search, here: At) -> Response:
    wanted = parse_filter(body.filter, ATTRIBUTES)
    of_run = next(
        (str(each.value) for each in wanted if (each.kind, each.key, each.sign) == (ATTRIBUTE, "source_run_id", "=")),
        None,
    )
    if of_run is not None and here.caller.run_id is not None:
        here.must_read(of_run)
    else:
        here.must_be_wide()
    orders = [f"{_quoted(each)} {'ASC' if each.get('ascending', True) else 'DESC'}" for each in body.order_by or ()]
    with here.read() as connection:
        ids = []
        for id in body.experiment_ids or ():
            try:
                ids.append(here.experiment(connection, id).id)
            except NotFound:
                continue
        rows = logged_models.find(connection, here.workspace, ids, of_run)
    if body.datasets:
        rows = [row for row in rows if any(_is_on(metric, body.datasets) for metric in row.metrics)]
    asked = matching.parse(body.filter, orders, ATTRIBUTES)
    asked = replace(asked, conditions=[_as_shown(each) for each in asked.conditions])
    found, token = matching.page(rows, asked, _values, body.max_results or 100, body.page_token)
    return answer(documents.page("models", [document(row) for row in found], token))


def _as_shown(condition: Condition) -> Condition:
    """A status is sought as the client shows it (READY), or as the protocol has it."""
    value = condition.value
    if (condition.kind, condition.key) != (ATTRIBUTE, "status"):
        return condition
    shown = tuple(map(_shown, value)) if isinstance(value, tuple) else _shown(str(value))
    return replace(condition, value=shown)


def _shown(status: str) -> str:
    return status.removeprefix("LOGGED_MODEL_")


def _quoted(order: Json) -> str:
    kind, dot, key = str(order.get("field_name", "")).partition(".")
    return f"{kind}.`{key}`" if dot else kind


def _is_on(metric: Json, datasets: list[dict[str, Any]]) -> bool:
    return any(
        metric.get("dataset_name") == each.get("dataset_name")
        and each.get("dataset_digest") in (None, "", metric.get("dataset_digest"))
        for each in datasets
    )


@router.get("/{model_id}")
def get(model_id: str, here: At) -> Response:
    return _answer(readable(here, model_id))


@router.patch("/{model_id}")
def finalize(model_id: str, body: Finalize, here: At) -> Response:
    return _changed(here, model_id, status=body.status)


@router.patch("/{model_id}/tags")
def set_tags(model_id: str, body: Tags, here: At) -> Response:
    return _changed(here, model_id, set_tags=pairs(body.tags))


@router.delete("/{model_id}/tags/{key:file}")
def delete_tag(model_id: str, key: str, here: At) -> Response:
    return _changed(here, model_id, remove_tag=key)


@router.post("/{model_id}/params")
def log_parameters(model_id: str, body: Parameters, here: At) -> Response:
    return _changed(here, model_id, add_parameters=pairs(body.params))


@router.delete("/{model_id}")
def delete(model_id: str, here: At) -> Response:
    here.must_be_user("To delete a logged model")
    with here.write() as connection:
        logged_models.remove(connection, here.workspace, model_id)
    return answer({})


def readable(here: Here, model_id: str) -> LoggedModel:
    """A logged model, if the caller may read the run that holds it."""
    with here.read() as connection:
        model = logged_models.get(connection, here.workspace, model_id)
    here.must_read(model.run_id)
    return model


def writable(here: Here, model_id: str) -> LoggedModel:
    """A logged model, if the caller may write to the run that holds it: that of no run is anybody's."""
    with here.read() as connection:
        model = logged_models.get(connection, here.workspace, model_id)
    if model.source_run is not None:
        here.must_write(model.source_run)
    else:
        here.must_be_wide()
    return model


def _changed(here: Here, model_id: str, **changes: Any) -> Response:
    writable(here, model_id)
    with here.write() as connection:
        return _answer(logged_models.change(connection, here.workspace, model_id, **changes))


def _answer(model: LoggedModel) -> Response:
    return answer({"model": document(model)})


def document(row: LoggedModel) -> Json:
    experiment_id = documents.public_id(row.experiment_id, row.experiment)
    info: Json = {
        "model_id": row.id,
        "experiment_id": experiment_id,
        "name": row.name,
        "creation_timestamp_ms": milliseconds(row.created_at),
        "last_updated_timestamp_ms": milliseconds(row.updated_at),
        "artifact_uri": f"{SCHEME}/{experiment_id}/models/{row.id}/artifacts",
        "status": row.status,
        "tags": listed(row.tags),
    }
    if row.model_type:
        info["model_type"] = row.model_type
    if row.source_run:
        info["source_run_id"] = row.source_run
    metrics = [{**each, "model_id": row.id, "value": _number(each["value"])} for each in row.metrics]
    return {"info": info, "data": {"params": listed(row.parameters), "metrics": metrics}}


def _number(value: float | str) -> float | str:
    return documents.number(float(value))


def _values(row: LoggedModel) -> matching.Values:
    created, updated = milliseconds(row.created_at), milliseconds(row.updated_at)
    return matching.Values(
        {
            "name": row.name,
            "model_id": row.id,
            "model_type": row.model_type,
            "status": _shown(row.status),
            "source_run_id": row.source_run,
            "creation_timestamp": created,
            "creation_time": created,
            "last_updated_timestamp": updated,
            "last_updated_time": updated,
        },
        row.tags,
        row.parameters,
        {each["key"]: float(each["value"]) for each in row.metrics},
    )
