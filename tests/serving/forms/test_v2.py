"""If these fail, clients of KServe, Triton and MLServer cannot use a service."""

from __future__ import annotations

import json
import struct
from typing import Any

import pytest
from tests.support.numpy_runtime import NumpyRuntime, request

from runyard.contracts.services.worker import ServedModel
from runyard.serving.forms import v2
from runyard.serving.http.head import BadRequest

MODEL, RUNTIME = ServedModel("m", 2, ""), NumpyRuntime()
X = {"name": "x", "shape": [2, 2], "datatype": "FP32"}


def asked(document: Any, behind: bytes = b"") -> tuple[Any, bytes]:
    text = json.dumps(document).encode()
    headers = [f"Inference-Header-Content-Length: {len(text)}"] if behind else []
    query = v2.read(request("/v2/models/m/infer", text + behind, *headers), MODEL, RUNTIME)
    response = query.write(RUNTIME.infer(query.signature, query.inputs, query.outputs))
    length = dict(response.headers).get("Inference-Header-Content-Length")
    size = int(length) if length else len(response.body)
    return json.loads(response.body[:size]), bytes(response.body[size:])


def test_in_json() -> None:
    told, behind = asked({"id": "7", "inputs": [{**X, "data": [[1, 2], [3, 4]]}], "outputs": [{"name": "y"}]})
    assert told == {
        "model_name": "m",
        "model_version": "2",
        "id": "7",
        "outputs": [{"name": "y", "datatype": "FP32", "shape": [2], "data": [6.0, 14.0]}],
    }
    assert behind == b""


def test_in_bytes() -> None:
    given = {**X, "parameters": {"binary_data_size": 16}}
    data = struct.pack("<4f", 1, 2, 3, 4)
    outputs = [{"name": "first"}, {"name": "y", "parameters": {"binary_data": True}}]
    told, behind = asked({"inputs": [given], "outputs": outputs}, data)
    assert told["outputs"][0]["data"] == [1.0, 3.0]
    assert told["outputs"][1]["parameters"] == {"binary_data_size": 8}
    assert struct.unpack("<2f", behind) == (6.0, 14.0)
    everything = asked({"inputs": [given], "parameters": {"binary_data_output": True}}, data)[1]
    assert len(everything) == 16


@pytest.mark.parametrize(
    ("document", "behind", "told"),
    [
        ({}, b"", "`inputs` must be a list"),
        ({"inputs": [1]}, b"", "must be an object"),
        ({"inputs": [{**X, "shape": [-1], "data": []}]}, b"", "shape of the input 'x'"),
        ({"inputs": [{"name": "x", "shape": [1, 2], "data": [1, 2]}]}, b"", "no datatype"),
        ({"inputs": [X]}, b"", "neither data nor"),
        ({"inputs": [{**X, "parameters": {"binary_data_size": 99}}]}, b"1234", "not within the body"),
        ({"inputs": [{**X, "data": [1, 2, 3, 4]}]}, b"1234", "belong to no input"),
        ({"inputs": [{**X, "data": [1, 2, 3, 4]}], "outputs": ["y"]}, b"", "`outputs` must be"),
    ],
)
def test_what_is_wrong_is_told(document: Any, behind: bytes, told: str) -> None:
    with pytest.raises(BadRequest, match=told):
        asked(document, behind)
