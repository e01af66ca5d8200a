"""ONNX Runtime server's form, which SDK v1 served ONNX models with: a PredictRequest, as JSON or in binary.

    {"inputs": {"<name>": {"dims": ["1", "10"], "dataType": 1, "rawData": "<base64>"}}, "outputFilter": ["<name>"]}

Binary requests are the message itself, with the content type application/octet-stream or one of protobuf's.
"""

from __future__ import annotations

import base64
import binascii
import json
from typing import Any, Mapping

from runyard.serving.forms import protobuf
from runyard.serving.forms.query import Query, complete, find, wanted
from runyard.serving.http.head import BadRequest
from runyard.serving.http.message import Request, Response
from runyard.serving.runtimes.base import Array, Runtime, Tensor
from runyard.serving.runtimes.tensors import datatype_of, from_bytes, from_flat, to_bytes

BINARY = ("application/octet-stream", "application/x-protobuf", "application/vnd.google.protobuf")

_NUMBERS = {
    1: "FP32",
    2: "UINT8",
    3: "INT8",
    4: "UINT16",
    5: "INT16",
    6: "INT32",
    7: "INT64",
    8: "BYTES",
    9: "BOOL",
    10: "FP16",
    11: "FP64",
    12: "UINT32",
    13: "UINT64",
}
_NAMES = {name: number for number, name in _NUMBERS.items()}
_LISTS = ("floatData", "int32Data", "int64Data", "doubleData", "uint64Data", "stringData")


def is_binary(request: Request) -> bool:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower() in BINARY


def is_form(asked: dict[str, Any]) -> bool:
    """Whether an object is of this form, and not of another with `inputs`."""
    given = asked.get("inputs")
    return isinstance(given, dict) and any(
        isinstance(each, dict) and ("dims" in each or "dataType" in each or "data_type" in each)
        for each in given.values()
    )


def read(asked: dict[str, Any], request: Request, runtime: Runtime) -> Query:
    signature = runtime.signatures[runtime.default]
    given = asked.get("inputs")
    if not isinstance(given, dict):
        raise BadRequest(400, "`inputs` must be an object with a tensor for each input.")
    inputs = {name: _array(find(signature, name), each) for name, each in given.items()}
    complete(signature, inputs)
    names = wanted(signature, _filter(asked.get("outputFilter") or asked.get("output_filter")))
    accepted = request.headers.get("accept", "")
    binary = any(kind in accepted for kind in BINARY) or (is_binary(request) and "json" not in accepted)
    return Query(runtime.default, inputs, names, _binary if binary else _json)


def _filter(names: Any) -> list[str] | None:
    if names and not isinstance(names, list):
        raise BadRequest(400, "`outputFilter` must be a list of names.")
    return [str(each) for each in names] if names else None


def read_binary(request: Request, runtime: Runtime) -> Query:
    try:
        asked = protobuf.read_request(bytes(request.body))
    except ValueError as error:
        raise BadRequest(400, f"The body is not a PredictRequest: {error}") from error
    return read(asked, request, runtime)


def _array(tensor: Tensor, each: Any) -> Array:
    if not isinstance(each, dict):
        raise BadRequest(400, f"The input {tensor.name!r} must be an object with dims, dataType and rawData.")
    given = {_camel(name): value for name, value in each.items()}
    number = given.get("dataType", 1)
    datatype = _NUMBERS.get(number) if isinstance(number, int) else None
    if datatype is None:
        raise BadRequest(400, f"The input {tensor.name!r} has a dataType that is not known: {number!r}.")
    try:
        shape = [int(size) for size in given.get("dims", [])]
    except (TypeError, ValueError) as error:
        raise BadRequest(400, f"The dims of the input {tensor.name!r} must be numbers.") from error
    raw = given.get("rawData")
    if raw is not None:
        try:
            data = raw if isinstance(raw, bytes) else base64.b64decode(raw, validate=True)
        except (TypeError, ValueError, binascii.Error) as error:
            raise BadRequest(400, f"rawData of the input {tensor.name!r} is not in base64.") from error
        return from_bytes(tensor, data, shape, datatype)
    values = next((given[name] for name in _LISTS if name in given), None)
    if not isinstance(values, list):
        raise BadRequest(400, f"The input {tensor.name!r} has no rawData, and no list of values.")
    return from_flat(tensor, _values(tensor, values, datatype), shape, datatype)


def _values(tensor: Tensor, values: list[Any], datatype: str) -> list[Any]:
    try:
        if datatype == "BYTES":
            return [each if isinstance(each, bytes) else base64.b64decode(each) for each in values]
        if datatype.startswith(("INT", "UINT")):
            return [int(each) for each in values]  # 64 bits are text in JSON
    except (TypeError, ValueError, OverflowError) as error:  # binascii's is a ValueError
        raise BadRequest(400, f"The values of the input {tensor.name!r} are not of the type {datatype}.") from error
    return values


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(each.capitalize() for each in others)


def _json(made: Mapping[str, Array]) -> Response:
    outputs = {}
    for name, array in made.items():
        datatype = datatype_of(array)
        told: dict[str, Any] = {"dims": [str(size) for size in array.shape], "dataType": _NAMES[datatype]}
        if datatype == "BYTES":
            told["stringData"] = [base64.b64encode(_bytes(each)).decode() for each in array.ravel().tolist()]
        else:
            told["rawData"] = base64.b64encode(to_bytes(array, datatype)).decode()
        outputs[name] = {**told, "dataLocation": "DEFAULT"}
    return Response(json.dumps({"outputs": outputs}).encode(), failed=False)


def _binary(made: Mapping[str, Array]) -> Response:
    outputs = {}
    for name, array in made.items():
        datatype = datatype_of(array)
        texts = [_bytes(each) for each in array.ravel().tolist()] if datatype == "BYTES" else None
        raw = b"" if texts is not None else to_bytes(array, datatype)
        outputs[name] = (list(array.shape), _NAMES[datatype], raw, texts)
    return Response(protobuf.write_response(outputs), content_type="application/octet-stream", failed=False)


def _bytes(value: Any) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode()
