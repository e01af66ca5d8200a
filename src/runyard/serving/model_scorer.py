"""Answers requests with models that come without code, in all forms that clients know, and several requests together
where the model takes rows of several at once."""

from __future__ import annotations

import json
import os
import re
import sys
import time
import traceback
from typing import Any, Iterator, Mapping, cast

import numpy

from runyard.contracts.services.worker import Batch, ServedModel
from runyard.serving.failure import CannotServe, failure
from runyard.serving.forms import invocations, onnx_server, tables, tensorflow_serving, v2
from runyard.serving.forms.query import Query, document
from runyard.serving.http.head import BadRequest
from runyard.serving.http.message import Request, Response, json_response, message
from runyard.serving.runtimes.base import Array, Runtime, load
from runyard.serving.scorer import Asked, failed
from runyard.serving.swagger import Described

LARGE = 1024 * 1024
"""A body of more bytes is not read before its turn, and is answered alone."""

_MODEL = re.compile(r"/v2/models/(?P<name>[^/]+)(?:/versions/(?P<version>[^/]+))?(?:/(?P<what>infer|ready|config))?$")
_SERVING = re.compile(
    r"/v1/models/(?P<name>[^/:]+)(?:/versions/(?P<version>[^/:]+)|/labels/[^/:]+)?"
    r"(?P<what>:predict|:classify|:regress|/metadata)?$"
)
FAILED = "The model failed. The log of the service has the reason; so does the answer, for whoever shows their token."


class _Prepared:
    __slots__ = ("model", "query", "runtime", "wrong")

    def __init__(self, model: ServedModel, runtime: Runtime) -> None:
        self.model, self.runtime = model, runtime
        self.query: Query | None = None
        self.wrong: BadRequest | None = None


class ModelScorer:
    routes: tuple[str, ...] = ("/v2", "/v1/models/", "/score/v2", "/score/v1/models/", invocations.PATH)

    def __init__(self, models: list[ServedModel], batch: Batch, threads: int = 0) -> None:
        if not models:
            raise CannotServe("The service has neither an entry script nor a model.")
        self._models = {each.name: (each, load(each, threads)) for each in models}
        self._first = next(iter(self._models.values()))
        self._batch = batch
        self._not_by_rows: set[object] = set()
        self.batches = self.batch_rows = 0

    def describe(self, described: Described) -> None:
        model, runtime = self._first
        told = v2.metadata(model, runtime)
        tensor = {"type": "object", "properties": {name: {} for name in ("name", "shape", "datatype", "data")}}
        described.input = {"type": "object", "properties": {"inputs": {"type": "array", "items": tensor}}}
        described.input["example"] = {"inputs": [{**each, "data": []} for each in told["inputs"]]}
        described.output = {"type": "object", "example": {"outputs": told["outputs"]}}

    # What needs no model.

    def at_once(self, request: Request) -> Response | None:
        path = _bare(request.path)
        if _is_invocation(request):
            return None
        if path in ("/v2/health/live", "/v2/health/ready"):
            return json_response({path.rpartition("/")[2]: True})
        if path == "/v2":
            extensions = ["binary_tensor_data", "model_repository"]
            return json_response({"name": "runyard", "version": "2", "extensions": extensions}, failed=False)
        if path == "/v2/repository/index":
            index = [
                {"name": model.name, "version": str(model.version), "state": "READY", "reason": ""}
                for model, _ in self._models.values()
            ]
            return json_response(index, failed=False)
        found = _MODEL.match(path) or _SERVING.match(path)
        if found is None:
            return _wrong(BadRequest(404, f"There is nothing at {request.path}."), request)
        what = found["what"] or ""
        if what in ("infer", ":predict"):
            return None
        try:
            model, runtime = self._named(found["name"], found["version"])
        except BadRequest as wrong:
            return _wrong(wrong, request)
        if what == "ready":
            return json_response({"name": model.name, "ready": True})
        if path.startswith("/v2"):
            return json_response(v2.metadata(model, runtime), failed=False)
        if what in (":classify", ":regress"):
            return _wrong(BadRequest(501, f"{what} is not offered: use :predict."), request)
        told = tensorflow_serving.metadata(model, runtime) if what else tensorflow_serving.status(model)
        return json_response(told, failed=False)

    def _named(self, name: str, version: str | None) -> tuple[ServedModel, Runtime]:
        found = self._models.get(name)
        if found is None:
            raise BadRequest(404, f"There is no model {name!r} here; there is {', '.join(self._models)}.")
        if version not in (None, str(found[0].version)):
            raise BadRequest(404, f"The model {name!r} is served in version {found[0].version}, not {version}.")
        return found

    # What does.

    def prepare(self, asked: Asked) -> tuple[object | None, int]:
        if self._batch.size == 1 or len(asked.request.body) > LARGE:
            return None, 1
        prepared = self._read(asked.request)
        asked.prepared = prepared
        query = prepared.query
        if query is None:
            return None, 1
        signature = prepared.runtime.signatures[query.signature]
        rows = query.rows()
        kind = (prepared.model.name, *query.kind()) if rows else None
        if not signature.by_rows or not 0 < rows < self._batch.size or kind in self._not_by_rows:
            return None, 1
        return kind, rows

    def _read(self, request: Request) -> _Prepared:
        path = _bare(request.path)
        prepared = _Prepared(*self._first)
        try:
            found = _MODEL.match(path) or _SERVING.match(path)
            if found is not None:
                prepared.model, prepared.runtime = self._named(found["name"], found["version"])
            if request.method == "GET":
                raise BadRequest(405, "Send the request with POST.")
            prepared.query = _query(request, path, prepared.model, prepared.runtime)
        except BadRequest as wrong:
            prepared.wrong = wrong
        except Exception as error:  # noqa: BLE001 - of what the caller sent, whatever that makes of a form
            traceback.print_exc()
            prepared.wrong = BadRequest(400, f"The request cannot be read: {type(error).__name__}: {error}")
        return prepared

    def execute(self, asked: list[Asked]) -> list[Response]:
        every = [cast(_Prepared, each.prepared) or self._read(each.request) for each in asked]
        if len(asked) > 1:
            together = self._together(asked, every)
            if together is not None:
                return together
        return [self._alone(each, prepared) for each, prepared in zip(asked, every)]

    def _alone(self, asked: Asked, prepared: _Prepared) -> Response:
        query = prepared.query
        if prepared.wrong is not None or query is None:
            return _wrong(prepared.wrong or BadRequest(400, "The request cannot be read."), asked.request)
        began = time.perf_counter()
        try:
            made = prepared.runtime.infer(query.signature, query.inputs, query.outputs)
            seconds = time.perf_counter() - began
            response = query.write(made)
        except BadRequest as wrong:
            return _wrong(wrong, asked.request)
        except Exception as error:  # noqa: BLE001 - whatever the framework raises
            return self._failed(asked, error)
        response.seconds = seconds
        return response

    def _failed(self, asked: Asked, error: Exception) -> Response:
        told = failure(error)
        print(told.traceback, file=sys.stderr, flush=True)
        if _bare(asked.request.path) != "/score":
            text = f"{told.type}: {told.message}" if asked.in_full else FAILED
            return json_response({"error": text}, 500, failed=True)
        return failed(500, FAILED, told if asked.in_full else None)

    def _together(self, asked: list[Asked], every: list[_Prepared]) -> list[Response] | None:
        """One call for all of them; None when that is not possible, and each is to be answered by itself."""
        queries = [cast(Query, each.query) for each in every]
        first, runtime = queries[0], every[0].runtime
        rows = [query.rows() for query in queries]
        joined = {name: numpy.concatenate([query.inputs[name] for query in queries]) for name in first.inputs}
        began = time.perf_counter()
        try:
            made = runtime.infer(first.signature, joined, first.outputs)
        except Exception:  # noqa: BLE001 - one of them may be at fault: each gets its own answer
            return None
        if any(not each.ndim or each.shape[0] != sum(rows) for each in made.values()):
            self._not_by_rows.add((every[0].model.name, *first.kind()))
            print(f"The model {every[0].model.name} does not answer row by row: no batches are made.", file=sys.stderr)
            return None
        seconds = time.perf_counter() - began
        self.batches += 1
        self.batch_rows += sum(rows)
        responses = []
        for query, part in zip(queries, _split(made, rows)):
            response = query.write(part)
            response.seconds = seconds
            responses.append(response)
        return responses


def threads_for(workers: int) -> int:
    """How many threads one of several workers may use for a call; 0: all."""
    return 0 if workers == 1 else max(1, (os.cpu_count() or 1) // workers)


def _split(made: Mapping[str, Array], rows: list[int]) -> Iterator[dict[str, Array]]:
    start = 0
    for count in rows:
        yield {name: each[start : start + count] for name, each in made.items()}
        start += count


def _query(request: Request, path: str, model: ServedModel, runtime: Runtime) -> Query:
    """Paths tell the form; at the scoring path, what is in the body does."""
    if _is_invocation(request):
        return invocations.read(request, runtime)
    if path.startswith("/v2"):
        return v2.read(request, model, runtime)
    if path.startswith("/v1"):
        return tensorflow_serving.read(document(request.body), runtime)
    if v2.LENGTH in request.headers:
        return v2.read(request, model, runtime)
    if onnx_server.is_binary(request):
        return onnx_server.read_binary(request, runtime)
    asked = document(request.body)
    if invocations.is_table(asked):
        return invocations.read(request, runtime)
    if "data" in asked or "Inputs" in asked:
        return tables.read(asked, runtime)
    if isinstance(asked.get("inputs"), list) and asked["inputs"] and isinstance(asked["inputs"][0], dict):
        return v2.read(request, model, runtime)
    if onnx_server.is_form(asked):
        return onnx_server.read(asked, request, runtime)
    if "instances" in asked or "inputs" in asked:
        return tensorflow_serving.read(asked, runtime)
    raise BadRequest(400, f"The body has none of `inputs`, `instances` and `data`, but {_keys(asked)}.")


def _is_invocation(request: Request) -> bool:
    return request.path.endswith(invocations.PATH)


def _keys(asked: dict[str, Any]) -> str:
    return ", ".join(json.dumps(name)[:40] for name in list(asked)[:5]) or "nothing"


def _bare(path: str) -> str:
    """Other protocols may be asked below the scoring path too, as SDK v1's `Multi` models were."""
    at = path.find("/v2")
    if at < 0:
        at = path.find("/v1/")
    return path[at:] if at >= 0 else "/score"


def _wrong(wrong: BadRequest, request: Request) -> Response:
    if _bare(request.path) == "/score":
        return message(wrong.status, wrong.message, failed=False)
    return json_response({"error": wrong.message}, wrong.status, failed=False)
