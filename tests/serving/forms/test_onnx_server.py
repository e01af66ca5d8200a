"""If these fail, requests that notebooks send to ONNX services of SDK v1 are not understood."""

from __future__ import annotations

import base64
import json
import struct
from typing import Any

import pytest
from tests.support.numpy_runtime import NumpyRuntime, request

from runyard.serving.forms import onnx_server, protobuf
from runyard.serving.http.head import BadRequest

RUNTIME = NumpyRuntime()
RAW = struct.pack("<2f", 1, 2)


def asked(document: Any, *headers: str) -> bytes:
    query = onnx_server.read(document, request("/score", b"", *headers), RUNTIME)
    return bytes(query.write(RUNTIME.infer(query.signature, query.inputs, query.outputs)).body)


@pytest.mark.parametrize(
    "tensor",
    [
        {"dims": ["1", "2"], "dataType": 1, "rawData": base64.b64encode(RAW).decode()},
        {"dims": [1, 2], "data_type": 1, "float_data": [1, 2]},
        {"dims": [1, 2], "dataType": 1, "floatData": [1, 2]},
    ],
)
def test_each_way_to_write_a_tensor(tensor: Any) -> None:
    document = {"inputs": {"x": tensor}, "outputFilter": ["y"]}
    assert onnx_server.is_form(document)
    (found,) = json.loads(asked(document))["outputs"].values()
    assert (found["dims"], found["dataType"], found["dataLocation"]) == (["1"], 1, "DEFAULT")
    assert struct.unpack("<f", base64.b64decode(found["rawData"])) == (6.0,)


def test_the_binary_form_and_what_is_accepted() -> None:
    def piece(number: int, data: bytes) -> bytes:
        return bytes([number << 3 | 2, len(data)]) + data

    tensor = bytes([8, 1, 8, 2, 16, 1]) + piece(9, RAW)
    body = piece(2, piece(1, b"x") + piece(2, tensor)) + piece(3, b"y")
    given = request("/score", body, "Content-Type: application/octet-stream")
    assert onnx_server.is_binary(given)
    query = onnx_server.read_binary(given, RUNTIME)
    made = bytes(query.write(RUNTIME.infer(query.signature, query.inputs, query.outputs)).body)
    assert struct.pack("<f", 6.0) in made
    assert protobuf.read_request(made.replace(b"\x0a", b"\x12", 1))["inputs"]["y"]["dims"] == [1]
    with pytest.raises(BadRequest, match="PredictRequest"):
        onnx_server.read_binary(request("/score", b"\xff\xff"), RUNTIME)


@pytest.mark.parametrize(
    ("document", "told"),
    [
        ({}, "`inputs` must be an object"),
        ({"inputs": {"x": 1}}, "must be an object with dims"),
        ({"inputs": {"x": {"dims": ["a"]}}}, "must be numbers"),
        ({"inputs": {"x": {"dims": [1, 2], "dataType": 99}}}, "not known"),
        ({"inputs": {"x": {"dims": [1, 2], "dataType": 1, "rawData": "?"}}}, "base64"),
        ({"inputs": {"x": {"dims": [1, 2], "dataType": 1}}}, "no rawData"),
        ({"inputs": {"x": {"dims": [1, 2], "dataType": 7, "int64Data": ["1", "2"]}}}, "INT64 was sent"),
    ],
)
def test_what_is_wrong_is_told(document: Any, told: str) -> None:
    with pytest.raises(BadRequest, match=told):
        asked(document)
