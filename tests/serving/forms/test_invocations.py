"""What is no request in MLflow's forms is told so before a model is asked."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.support.numpy_runtime import NumpyRuntime, request

from runyard.serving.forms import invocations
from runyard.serving.http.head import BadRequest


class Schemaless(NumpyRuntime):
    schema, columns = None, ()


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({}, "it has nothing"),
        ({"data": []}, 'it has "data"'),
        ({"instances": [], "inputs": []}, "must have one of dataframe_split"),
    ],
)
def test_a_body_has_one_of_the_forms(asked: Any, said: str) -> None:
    with pytest.raises(BadRequest, match=said) as caught:
        invocations.read(request("/invocations", json.dumps(asked).encode()), Schemaless())
    assert caught.value.status == 400


def test_other_models_are_not_asked_so() -> None:
    with pytest.raises(BadRequest, match="for models of MLflow") as caught:
        invocations.read(request("/invocations", b'{"inputs": []}'), NumpyRuntime())
    assert caught.value.status == 404


def test_which_bodies_are_tables_of_mlflow() -> None:
    assert invocations.is_table({"dataframe_records": []})
    assert invocations.is_table({"dataframe_split": {}})
    assert not invocations.is_table({"inputs": [], "instances": []})
