"""What MLflow's client logs, and the histories of metrics that it reads back."""

from __future__ import annotations

import time as clock
from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Query
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from runyard.server.middleware.problems import Problem
from runyard.server.mlflow import documents
from runyard.server.mlflow.documents import Json
from runyard.server.mlflow.forms import Form, Pair, RunNamed, Text, pairs
from runyard.server.mlflow.here import PREFIX, At, Here
from runyard.server.responses import paused
from runyard.server.responses.documents import answer
from runyard.store.metrics import staging
from runyard.store.mlflow import histories, inputs, logged_models, logging
from runyard.store.mlflow.histories import History
from runyard.store.mlflow.logging import Point

router = APIRouter(prefix=PREFIX, include_in_schema=False)

MOST_SAMPLES = 2500
"""Points of one run in an answer that is sampled."""

MOST_KEPT = 500_000
"""Points of a history that is kept for its next page: 12 MB."""

MOST_RUNS = 100
"""Runs in one request for histories."""


class Metric(Form):
    key: str
    value: float
    timestamp: int | None = None
    step: int | None = None
    model_id: str | None = None
    dataset_name: str | None = None
    dataset_digest: str | None = None


class LogMetric(Metric, RunNamed):
    pass


class LogParameter(RunNamed):
    key: str
    value: Text = ""


class LogBatch(RunNamed):
    metrics: list[Metric] | None = None
    params: list[Pair] | None = None
    tags: list[Pair] | None = None


class ModelNamed(Form):
    model_id: str
    step: int = 0


class LogInputs(RunNamed):
    datasets: list[dict[str, Any]] | None = None
    models: list[ModelNamed] | None = None


@router.post("/runs/log-metric")
def log_metric(body: LogMetric, here: At) -> Response:
    return _log(here, body.run, [body])


@router.post("/runs/log-parameter")
def log_parameter(body: LogParameter, here: At) -> Response:
    return _log(here, body.run, given={body.key: body.value})


@router.post("/runs/log-batch")
def log_batch(body: LogBatch, here: At) -> Response:
    given: dict[str, str] = {}
    for each in body.params or ():
        if given.setdefault(each.key, each.value) != each.value:
            title = f"The parameter {each.key[:200]!r} comes twice in the request, with different values."
            raise Problem("parameter_fixed", title, "Log one of them.")
    return _log(here, body.run, body.metrics or [], given, pairs(body.tags))


def _log(
    here: Here,
    run_id: str,
    metrics: list[Any] | None = None,
    given: dict[str, str] | None = None,
    tags: dict[str, str] | None = None,
) -> Response:
    here.must_write(run_id)
    now = clock.time()
    points = [
        Point(each.key, each.value, now if each.timestamp is None else each.timestamp / 1000, each.step or 0)
        for each in metrics or ()
    ]
    with here.write() as connection:
        serial = here.serial(connection, run_id)
        size = logging.put(connection, serial, points, given, tags)
        for each in metrics or ():
            if each.model_id:
                value = logged_models.Measured(each.key, each.value, each.timestamp or int(now * 1000), each.step or 0)
                logged_models.measure(
                    connection, here.workspace, each.model_id, value, each.dataset_name, each.dataset_digest, run_id
                )
    here.context.pending.added(serial, size)
    return answer({})


@router.post("/runs/log-inputs")
def log_inputs(body: LogInputs, here: At) -> Response:
    here.must_write(body.run)
    with here.write() as connection:
        serial = here.serial(connection, body.run)
        for each in body.datasets or ():
            inputs.add_dataset(connection, serial, each)
        models = [(each.model_id, each.step) for each in body.models or ()]
        inputs.add_models(connection, serial, inputs.INPUT, models)
    return answer({})


@router.post("/runs/outputs")
def log_outputs(body: LogInputs, here: At) -> Response:
    here.must_write(body.run)
    with here.write() as connection:
        serial = here.serial(connection, body.run)
        models = [(each.model_id, each.step) for each in body.models or ()]
        inputs.add_models(connection, serial, inputs.OUTPUT, models)
    return answer({})


@router.post("/runs/log-model")
def log_model(body: RunNamed, here: At) -> Response:
    """Clients of 2.x record a model here that they have logged as artifacts: the files themselves say all of it."""
    here.must_write(body.run)
    return answer({})


# -- histories --------------------------------------------------------------------------------------------------------


@router.get("/metrics/get-history")
async def get_history(
    here: At,
    metric_key: str = "",
    run_id: str = "",
    run_uuid: str = "",
    max_results: int | None = None,
    page_token: str | None = None,
) -> Response:
    wanted = run_id or run_uuid
    await _look(here, [wanted])
    return await run_in_threadpool(_history, here, wanted, metric_key, max_results, page_token)


def _history(here: Here, run_id: str, name: str, limit: int | None, token: str | None) -> Response:
    start, key = _place(token), ("history", run_id, name)
    found = paused.take((*key, str(start)), History) if start else None
    if found is None:
        staging.settle(here.context.store.database, [run_id])
    with here.read() as connection:
        here.serial(connection, run_id, active=False)
        if found is None:
            found = histories.read(connection, run_id, name)
    end = len(found) if limit is None else start + max(0, limit)
    points = _points(name, found.part(start, end))
    if start < end < len(found) <= MOST_KEPT:
        kept = found.packed()
        if kept is not None:
            paused.keep((*key, str(end)), kept)
    return _json(documents.page("metrics", points, str(end) if end < len(found) else None))


@router.get("/metrics/get-history-bulk")
async def get_histories(
    here: At, run_id: Annotated[list[str], Query()], metric_key: str = "", max_results: int = 25_000
) -> Response:
    await _look(here, run_id)
    return await run_in_threadpool(_sampled, here, run_id, metric_key, None, None, max_results)


@router.get("/metrics/get-history-bulk-interval")
async def get_sampled_histories(
    here: At,
    run_ids: Annotated[list[str], Query()],
    metric_key: str = "",
    start_step: int | None = None,
    end_step: int | None = None,
    max_results: int = 320,
) -> Response:
    await _look(here, run_ids)
    most = min(max_results, MOST_SAMPLES)
    return await run_in_threadpool(_sampled, here, run_ids, metric_key, start_step, end_step, most)


def _sampled(here: Here, run_ids: list[str], name: str, first: int | None, last: int | None, most: int) -> Response:
    """The histories of a metric in several runs, each with so many points at most."""
    if len(run_ids) > MOST_RUNS:
        title = f"The request asks for {len(run_ids)} runs."
        raise Problem("bad_request", title, f"Ask for {MOST_RUNS} at most.")
    staging.settle(here.context.store.database, run_ids)
    points: list[Json] = []
    with here.read() as connection:
        for run_id in run_ids:
            here.serial(connection, run_id, active=False)
            found = histories.read(connection, run_id, name).between(first, last).sampled(most)
            points += [{**point, "run_id": run_id} for point in _points(name, found)]
    return _json({"metrics": points})


async def _look(here: Here, run_ids: list[str]) -> None:
    for run_id in run_ids[:MOST_RUNS]:
        await run_in_threadpool(here.must_read, run_id)
        await here.context.pace.look(run_id)


def _place(token: str | None) -> int:
    if token and not (token.isascii() and token.isdigit() and len(token) < 16):
        title = f"{token[:40]!r} is no page token."
        raise Problem("bad_request", title, "Send `next_page_token` of the former page.")
    return int(token or 0)


def _points(name: str, history: History) -> list[Json]:
    plain = all(value - value == 0 for value in history.values)
    values: Any = history.values if plain else map(documents.number, history.values)
    return [
        {"key": name, "value": value, "timestamp": time, "step": step}
        for value, time, step in zip(values, history.times, history.steps, strict=True)
    ]


def _json(value: Json) -> Response:
    return Response(orjson.dumps(value), media_type="application/json")
