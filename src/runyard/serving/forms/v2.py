"""The open inference protocol, version 2, which KServe, Triton and MLServer speak: metadata and inference.

Tensors are in the JSON, or behind it as bytes: the header `Inference-Header-Content-Length` then tells the length of
the JSON, and each tensor its `binary_data_size`.
"""

from __future__ import annotations

import json
from typing import Any, Mapping

from runyard.contracts.services.worker import ServedModel
from runyard.serving.forms.query import Query, complete, document, find, wanted
from runyard.serving.http.head import BadRequest
from runyard.serving.http.message import Request, Response
from runyard.serving.runtimes.base import Array, Runtime, Tensor
from runyard.serving.runtimes.tensors import datatype_of, from_bytes, from_flat, to_bytes, to_lists

LENGTH = "inference-header-content-length"


def metadata(model: ServedModel, runtime: Runtime) -> dict[str, Any]:
    signature = runtime.signatures[runtime.default]
    return {
        "name": model.name,
        "versions": [str(model.version)],
        "platform": runtime.platform,
        "inputs": [_described(each) for each in signature.inputs],
        "outputs": [_described(each) for each in signature.outputs],
    }


def _described(tensor: Tensor) -> dict[str, Any]:
    return {"name": tensor.name, "datatype": tensor.datatype or "FP32", "shape": tensor.shown()}


def read(request: Request, model: ServedModel, runtime: Runtime) -> Query:
    """The query in a request for inference. BadRequest."""
    header, rest = _parts(request)
    asked = document(header)
    given = asked.get("inputs")
    if not isinstance(given, list) or not given:
        raise BadRequest(400, "`inputs` must be a list of tensors with name, shape, datatype and data.")
    signature = runtime.signatures[runtime.default]
    inputs: dict[str, Array] = {}
    for each in given:
        if not isinstance(each, dict):
            raise BadRequest(400, "Each of `inputs` must be an object with name, shape, datatype and data.")
        tensor = find(signature, str(each.get("name", "")))
        inputs[tensor.name], rest = _array(tensor, each, rest)
    complete(signature, inputs)
    if rest:
        raise BadRequest(400, f"{len(rest)} bytes behind the JSON belong to no input: see binary_data_size.")
    outputs = _outputs(asked)
    names = wanted(signature, outputs)
    everything = bool(_parameters(asked).get("binary_data_output"))
    binary = {name: (outputs or {}).get(name, everything) for name in names}
    head = {"model_name": model.name, "model_version": str(model.version)}
    if "id" in asked:
        head["id"] = asked["id"]
    return Query(runtime.default, inputs, names, lambda made: _answer(head, made, binary, everything))


def _parts(request: Request) -> tuple[bytes, memoryview]:
    told = request.headers.get(LENGTH)
    body = memoryview(request.body)
    if told is None:
        return bytes(body), memoryview(b"")
    if not told.isdecimal() or len(told) > 18 or int(told) > len(body):
        raise BadRequest(400, f"The header {LENGTH} does not tell a length within the body.")
    return bytes(body[: int(told)]), body[int(told) :]


def _array(tensor: Tensor, each: dict[str, Any], rest: memoryview) -> tuple[Array, memoryview]:
    shape, datatype = each.get("shape"), each.get("datatype")
    if not isinstance(shape, list) or not all(type(size) is int and size >= 0 for size in shape):
        raise BadRequest(400, f"The shape of the input {tensor.name!r} must be a list of numbers.")
    if not isinstance(datatype, str):
        raise BadRequest(400, f"The input {tensor.name!r} has no datatype.")
    size = _parameters(each).get("binary_data_size")
    if size is None:
        if "data" not in each:
            raise BadRequest(400, f"The input {tensor.name!r} has neither data nor binary_data_size.")
        return from_flat(tensor, each["data"], shape, datatype), rest
    if type(size) is not int or not 0 <= size <= len(rest):
        raise BadRequest(400, f"binary_data_size of the input {tensor.name!r} is not within the body.")
    return from_bytes(tensor, bytes(rest[:size]), shape, datatype), rest[size:]


def _parameters(part: dict[str, Any]) -> dict[str, Any]:
    found = part.get("parameters")
    return found if isinstance(found, dict) else {}


def _outputs(asked: dict[str, Any]) -> dict[str, bool] | None:
    """Whether each output that is named is wanted as bytes."""
    given = asked.get("outputs")
    if not given:
        return None
    if not isinstance(given, list) or not all(isinstance(each, dict) and "name" in each for each in given):
        raise BadRequest(400, "`outputs` must be a list of objects with a name.")
    everything = bool(_parameters(asked).get("binary_data_output"))
    return {str(each["name"]): bool(_parameters(each).get("binary_data", everything)) for each in given}


def _answer(head: dict[str, Any], made: Mapping[str, Array], binary: Mapping[str, bool], everything: bool) -> Response:
    outputs, parts = [], []
    for name, array in made.items():
        datatype = datatype_of(array)
        told: dict[str, Any] = {"name": name, "datatype": datatype, "shape": list(array.shape)}
        if binary.get(name, everything):
            part = to_bytes(array, datatype)
            told["parameters"] = {"binary_data_size": len(part)}
            parts.append(part)
        else:
            told["data"] = to_lists(array.ravel())
        outputs.append(told)
    text = json.dumps({**head, "outputs": outputs}).encode()
    if not parts:
        return Response(text, failed=False)
    headers = [("Inference-Header-Content-Length", str(len(text)))]
    return Response(b"".join([text, *parts]), content_type="application/octet-stream", headers=headers, failed=False)
