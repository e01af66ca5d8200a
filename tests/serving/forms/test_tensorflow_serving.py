"""If these fail, a client of TensorFlow Serving cannot use a service."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.support.numpy_runtime import NumpyRuntime

from runyard.contracts.services.worker import ServedModel
from runyard.serving.forms import tensorflow_serving
from runyard.serving.http.head import BadRequest
from runyard.serving.runtimes.base import Signature, Tensor

RUNTIME = NumpyRuntime()


def asked(document: Any) -> Any:
    query = tensorflow_serving.read(document, RUNTIME)
    return json.loads(query.write(RUNTIME.infer(query.signature, query.inputs, query.outputs)).body)


def test_rows_and_columns() -> None:
    rows = {"predictions": [{"y": 6.0, "first": 1.0}]}
    assert asked({"instances": [[1, 2]]}) == asked({"instances": [{"x": [1, 2]}]}) == rows
    columns = {"outputs": {"y": [6.0], "first": [1.0]}}
    assert (
        asked({"inputs": [[1, 2]], "signature_name": "serving_default"})
        == asked({"inputs": {"x": [[1, 2]]}})
        == columns
    )


def test_bytes_stand_in_base64() -> None:
    class Text(NumpyRuntime):
        def __init__(self) -> None:
            super().__init__()
            text = (Tensor("t", "BYTES", (None,)),)
            self.signatures = {self.default: Signature(text, text)}

    query = tensorflow_serving.read({"instances": [{"b64": "YWI="}]}, Text())
    assert query.inputs["t"].tolist() == [b"ab"]
    with pytest.raises(BadRequest, match="b64"):
        tensorflow_serving.read({"instances": [{"b64": "?"}]}, Text())


@pytest.mark.parametrize(
    ("document", "told"),
    [
        ({}, "either `instances`"),
        ({"instances": [[1, 2]], "inputs": 1}, "either `instances`"),
        ({"instances": []}, "one or more rows"),
        ({"instances": [{"x": [1, 2]}, {"z": 1}]}, "same inputs"),
        ({"instances": [[1, 2]], "signature_name": "other"}, "no signature 'other'"),
        ({"inputs": {"z": 1}}, "no input 'z'"),
    ],
)
def test_what_is_wrong_is_told(document: Any, told: str) -> None:
    with pytest.raises(BadRequest, match=told):
        asked(document)


def test_what_a_model_says_of_itself() -> None:
    model = ServedModel("m", 2, "")
    assert tensorflow_serving.status(model)["model_version_status"][0]["version"] == "2"
    told = tensorflow_serving.metadata(model, RUNTIME)["metadata"]["signature_def"]["signature_def"]
    assert told["serving_default"]["inputs"]["x"]["dtype"] == "DT_FLOAT"
