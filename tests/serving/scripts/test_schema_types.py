"""If these fail, a script gets arguments of another type than its samples say, or a wrong one goes through."""

from __future__ import annotations

import datetime

import numpy
import pandas
import pytest

from runyard.serving.scripts.schema_types import (
    NumpyParameterType,
    PandasParameterType,
    StandardPythonParameterType,
)


def test_arrays() -> None:
    kind = NumpyParameterType(numpy.array([[1.0, 2.0]], numpy.float32))
    made = kind.deserialize_input([[1, 2], [3, 4]])
    assert (made.dtype, made.shape) == (numpy.float32, (2, 2))
    with pytest.raises(ValueError, match="shape"):
        kind.deserialize_input([[1]])
    with pytest.raises(ValueError, match="list"):
        kind.deserialize_input(1)
    described = kind.input_to_swagger()
    assert described["items"]["maxItems"] == 2
    assert described["example"] == [[1.0, 2.0]]
    with pytest.raises(TypeError):
        NumpyParameterType([1])


def test_tables() -> None:
    kind = PandasParameterType(pandas.DataFrame({"a": [1], "b": ["x"]}))
    made = kind.deserialize_input([{"a": 2, "b": "y"}])
    assert made["a"].tolist() == [2]
    with pytest.raises(ValueError, match="columns"):
        kind.deserialize_input([{"a": 2}])
    assert kind.input_to_swagger()["example"] == [{"a": 1, "b": "x"}]
    split = PandasParameterType(pandas.DataFrame({"a": [1]}), orient="split")
    assert split.deserialize_input({"columns": ["a"], "data": [[5]]})["a"].tolist() == [5]


def test_values_of_the_language() -> None:
    kind = StandardPythonParameterType(
        {"n": 1.0, "list": ["a"], "day": datetime.date(2020, 1, 2), "inner": StandardPythonParameterType(1)}
    )
    made = kind.deserialize_input({"n": 2, "list": ["b", "c"], "day": "2021-03-04", "inner": 5})
    assert made == {"n": 2.0, "list": ["b", "c"], "day": datetime.date(2021, 3, 4), "inner": 5}
    with pytest.raises(ValueError, match="str is expected"):
        kind.deserialize_input({"list": [1]})
    described = kind.input_to_swagger()
    assert described["properties"]["day"]["format"] == "date"
    assert described["example"]["inner"] == 1
