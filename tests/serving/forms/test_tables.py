"""If these fail, the rows that SDK v1's clients send for scikit-learn are not understood."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.support.numpy_runtime import NumpyRuntime

from runyard.serving.forms import tables
from runyard.serving.http.head import BadRequest


class Methods(NumpyRuntime):
    """As scikit-learn's: the outputs are methods, one of which is usual."""

    usual_method = "first"
    columns = ("a", "b")


def asked(document: Any, runtime: NumpyRuntime) -> Any:
    query = tables.read(document, runtime)
    return json.loads(query.write(runtime.infer(query.signature, query.inputs, query.outputs)).body)


def test_methods_are_chosen_and_named() -> None:
    runtime = Methods()
    assert asked({"data": [[1, 2]]}, runtime) == {"first": [1.0]}
    assert asked({"data": [[1, 2]], "method": "y"}, runtime) == {"y": [6.0]}
    assert asked({"Inputs": {"data": [[1, 2]]}, "GlobalParameters": {"method": "y"}}, runtime) == {"Results": [6.0]}
    assert asked({"Inputs": [[1, 2]]}, runtime) == {"Results": [1.0]}
    named = tables.read({"data": [{"b": 2, "a": 1}]}, runtime).inputs["x"]
    assert named.to_dict("records") == [{"a": 1, "b": 2}]
    parts = tables.read({"data": {"columns": ["a", "b"], "data": [[1, 2]]}}, runtime).inputs["x"]
    assert parts.values.tolist() == [[1, 2]]


def test_other_models_take_rows_too() -> None:
    assert asked({"data": [[1, 2]]}, NumpyRuntime()) == {"y": [6.0], "first": [1.0]}


@pytest.mark.parametrize(
    ("document", "told"),
    [
        ({"data": 1}, "list of rows"),
        ({"data": [[1, 2]], "method": "fly"}, "no output 'fly'"),
        ({"data": [{"a": 1}]}, "column 'b'"),
        ({"data": [[1]]}, r"\[-1, 2\]"),
    ],
)
def test_what_is_wrong_is_told(document: Any, told: str) -> None:
    with pytest.raises(BadRequest, match=told):
        asked(document, Methods())


@pytest.mark.parametrize(
    ("document", "told"),
    [
        ({"data": [{"a": 1, "b": 2}, {"a": 1}]}, "lack the column 'b'"),
        ({"data": {"columns": ["a", "b"], "data": [[1]]}}, "as many values"),
        ({"data": {"columns": [["a"]], "data": [[1]]}}, "list of names"),
        ({"data": [["a", "b"], ["c"]]}, "'x'"),
        ({"data": [[["a", "b"]]]}, "'x'"),
    ],
)
def test_rows_that_do_not_fit_are_refused(document: Any, told: str) -> None:
    with pytest.raises(BadRequest, match=told):
        tables.read(document, Methods())


def test_a_table_is_never_put_together_with_another() -> None:
    """Its columns have a type each: what would be compared is not there."""
    assert tables.read({"data": [{"b": 2, "a": 1}]}, Methods()).rows() == 0
