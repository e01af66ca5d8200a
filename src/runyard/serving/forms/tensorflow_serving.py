"""TensorFlow Serving's REST form: `instances` row by row, or `inputs` column by column."""

from __future__ import annotations

import base64
import binascii
import json
from typing import Any, Mapping

from runyard.contracts.services.worker import ServedModel
from runyard.serving.forms.query import Query, complete, find, signature_named, wanted
from runyard.serving.http.head import BadRequest
from runyard.serving.http.message import Response
from runyard.serving.runtimes.base import Array, Runtime, Signature
from runyard.serving.runtimes.tensors import from_lists, to_lists


def status(model: ServedModel) -> dict[str, Any]:
    """What GET /v1/models/<name> answers."""
    state = {"error_code": "OK", "error_message": ""}
    return {"model_version_status": [{"version": str(model.version), "state": "AVAILABLE", "status": state}]}


def metadata(model: ServedModel, runtime: Runtime) -> dict[str, Any]:
    signatures = {name: _described(each) for name, each in runtime.signatures.items()}
    return {
        "model_spec": {"name": model.name, "signature_name": "", "version": str(model.version)},
        "metadata": {"signature_def": {"signature_def": signatures}},
    }


_TYPES = {"FP32": "DT_FLOAT", "FP64": "DT_DOUBLE", "FP16": "DT_HALF", "BYTES": "DT_STRING", "BOOL": "DT_BOOL"}


def _described(signature: Signature) -> dict[str, Any]:
    def told(tensors: Any) -> dict[str, Any]:
        return {
            each.name: {
                "dtype": _TYPES.get(each.datatype, f"DT_{each.datatype}"),
                "tensor_shape": {
                    "dim": [{"size": str(size), "name": ""} for size in each.shown()],
                    "unknown_rank": each.shape is None,
                },
                "name": each.name,
            }
            for each in tensors
        }

    return {
        "inputs": told(signature.inputs),
        "outputs": told(signature.outputs),
        "method_name": "tensorflow/serving/predict",
    }


def read(asked: dict[str, Any], runtime: Runtime) -> Query:
    """The query in the object of a request. BadRequest."""
    name = signature_named(runtime, asked.get("signature_name"))
    signature = runtime.signatures[name]
    outputs = wanted(signature, None)
    by_rows = "instances" in asked
    if by_rows == ("inputs" in asked):
        raise BadRequest(400, "The request must have either `instances` (row by row) or `inputs` (column by column).")
    columns = _columns(asked["instances"], signature) if by_rows else _named(asked["inputs"], signature)
    inputs = {each: from_lists(find(signature, each), _decoded(values)) for each, values in columns.items()}
    complete(signature, inputs)
    return Query(name, inputs, outputs, _as_rows if by_rows else _as_columns)


def _columns(instances: Any, signature: Signature) -> dict[str, Any]:
    if not isinstance(instances, list) or not instances:
        raise BadRequest(400, "`instances` must be a list with one or more rows.")
    if all(isinstance(each, dict) and "b64" not in each for each in instances):
        names = list(instances[0])
        if any(set(each) != set(names) for each in instances):
            raise BadRequest(400, "The rows of `instances` do not have the same inputs.")
        return {name: [each[name] for each in instances] for name in names}
    return {_only(signature): instances}


def _named(given: Any, signature: Signature) -> dict[str, Any]:
    if isinstance(given, dict) and "b64" not in given:
        return given
    return {_only(signature): given}


def _only(signature: Signature) -> str:
    if len(signature.inputs) != 1:
        names = ", ".join(each.name for each in signature.inputs)
        raise BadRequest(400, f"The model has several inputs, which must be named: {names}.")
    return signature.inputs[0].name


def _decoded(values: Any) -> Any:
    """`{"b64": ...}` stands for bytes."""
    if isinstance(values, list):
        return [_decoded(each) for each in values] if values and isinstance(values[0], (list, dict)) else values
    if isinstance(values, dict):
        try:
            return base64.b64decode(values["b64"], validate=True)
        except (KeyError, TypeError, binascii.Error) as error:
            raise BadRequest(400, "An object within the values must be of the form {'b64': '<base64>'}.") from error
    return values


def _as_rows(made: Mapping[str, Array]) -> Response:
    if len(made) == 1:
        (only,) = made.values()
        return _response({"predictions": to_lists(only)})
    names, columns = list(made), [to_lists(each) for each in made.values()]
    return _response({"predictions": [dict(zip(names, row)) for row in zip(*columns)]})


def _as_columns(made: Mapping[str, Array]) -> Response:
    named = {name: to_lists(each) for name, each in made.items()}
    return _response({"outputs": next(iter(named.values())) if len(named) == 1 else named})


def _response(answer: dict[str, Any]) -> Response:
    return Response(json.dumps(answer).encode(), failed=False)
