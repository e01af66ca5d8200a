"""The questions that MLflow's pages ask by GraphQL. There are four, and each is one that MLflow's protocol has too; so
the name of its field decides, and the answer has all fields that any page reads of it.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Any

import orjson
from fastapi import APIRouter
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from runyard.server.middleware.problems import Problem
from runyard.server.mlflow import documents, experiments, metrics, model_versions, runs
from runyard.server.mlflow.documents import Json
from runyard.server.mlflow.forms import Form, Text
from runyard.server.mlflow.here import At, Here
from runyard.server.responses.documents import answer
from runyard.store.assets import models
from runyard.store.assets.models import ModelFilter
from runyard.store.errors import StoreError

router = APIRouter(prefix="/mlflow/{workspace}", include_in_schema=False)

_FIELD = re.compile(r"\{\s*(\w+)\s*\(")
_SNAKE = re.compile(r"_([a-z0-9])")
_CAMEL = re.compile(r"(?<=[a-z0-9])([A-Z])")

_MOST_VERSIONS = 1000
_OF_DATASET = ("digest", "name", "profile", "schema", "source", "source_type")


class Question(Form):
    query: str
    variables: dict[str, Any] | None = None


class _Experiment(Form):
    experiment_id: Text = ""


class _Run(Form):
    run_id: Text = ""


class _History(Form):
    run_ids: list[str] | None = None
    metric_key: Text = ""
    start_step: int | None = None
    end_step: int | None = None
    max_results: int | None = None


@router.post("/graphql")
async def ask(body: Question, here: At) -> Response:
    field = _FIELD.search(body.query[:10_000])
    answering = _FIELDS.get(field[1]) if field else None
    if field is None or answering is None:
        raise Problem("bad_request", "The server does not know this question.", f"It answers {', '.join(_FIELDS)}.")
    given = next((each for each in (body.variables or {}).values() if isinstance(each, dict)), {})
    asked = {_CAMEL.sub(lambda found: f"_{found[1].lower()}", key): value for key, value in given.items()}
    found: Json
    try:
        found = {**(await answering(here, asked)), "api_error": None}
    except ValidationError as error:
        raise RequestValidationError(error.errors()) from None
    except (Problem, StoreError) as error:
        found = {"api_error": {"code": error.code, "message": f"{error.title} {error.help}".strip(), "help_url": None}}
    return answer({"data": {field[1]: _in_graphql(found)}, "errors": None})


async def _experiment(here: Here, asked: Json) -> Json:
    said = await run_in_threadpool(experiments.get, here, _Experiment.model_validate(asked).experiment_id)
    return {"experiment": {**_read(said)["experiment"], "effective_trace_archival_retention": None}}


async def _run(here: Here, asked: Json) -> Json:
    said = await runs.get(here, _Run.model_validate(asked).run_id)
    return {"run": (await run_in_threadpool(_whole, here, [_read(said)["run"]]))[0]}


async def _runs(here: Here, asked: Json) -> Json:
    said = _read(await run_in_threadpool(runs.search, runs.Search.model_validate(asked), here))
    return {"runs": await run_in_threadpool(_whole, here, said["runs"])}


async def _history(here: Here, asked: Json) -> Json:
    wanted = _History.model_validate(asked)
    numbers = wanted.model_dump(include={"start_step", "end_step", "max_results"}, exclude_none=True)
    said = await metrics.get_sampled_histories(here, wanted.run_ids or [], wanted.metric_key, **numbers)
    return {"metrics": _finite(_read(said)["metrics"])}


_FIELDS: dict[str, Callable[[Here, Json], Awaitable[Json]]] = {
    "mlflowGetExperiment": _experiment,
    "mlflowGetRun": _run,
    "mlflowSearchRuns": _runs,
    "mlflowGetMetricHistoryBulkInterval": _history,
}


def _whole(here: Here, found: list[Json]) -> list[Json]:
    """Runs with the fields that no other answer has, and null for what is missing: a page reads no answer that lacks
    a field it has asked for."""
    of: dict[str, Json] = {}
    with here.read() as connection:
        for each in found:
            info = each["info"]
            info.setdefault("end_time", None)
            _finite(each["data"]["metrics"])
            id = info["experiment_id"]
            if id not in of:
                of[id] = documents.experiment(here.experiment(connection, id))
            each["experiment"] = of[id]
            rows, _ = models.find(connection, here.workspace, ModelFilter(run_id=info["run_id"]), _MOST_VERSIONS, None)
            each["model_versions"] = model_versions.several(connection, here.workspace, rows)
            each["inputs"] = {"dataset_inputs": [], "model_inputs": [], **each["inputs"]}
            each["outputs"] = {"model_outputs": [], **each["outputs"]}
            for dataset in each["inputs"]["dataset_inputs"]:
                dataset.setdefault("tags", [])
                dataset["dataset"] = {**dict.fromkeys(_OF_DATASET), **dataset["dataset"]}
    return found


def _finite(points: list[Json]) -> list[Json]:
    """Points of metrics without the numbers that are none, for which MLflow's protocol has texts, and GraphQL null."""
    for each in points:
        if isinstance(each["value"], str):
            each["value"] = None
    return points


def _read(response: Response) -> Json:
    found: Json = orjson.loads(bytes(response.body))
    return found


def _in_graphql(value: Any) -> Any:
    """A document in GraphQL's form: names in camel case, and whole numbers as texts."""
    if isinstance(value, dict):
        return {_SNAKE.sub(lambda found: found[1].upper(), key): _in_graphql(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_in_graphql(each) for each in value]
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value
