"""If these fail, a request with a wrong name goes to the model, or the message does not name it."""

from __future__ import annotations

import numpy
import pytest
from tests.support.numpy_runtime import NumpyRuntime

from runyard.serving.forms.query import Query, complete, document, find, signature_named, wanted
from runyard.serving.http.head import BadRequest
from runyard.serving.http.message import Response

RUNTIME = NumpyRuntime()
SIGNATURE = RUNTIME.signatures["serving_default"]


def test_names_are_checked() -> None:
    assert find(SIGNATURE, "x").datatype == "FP32"
    with pytest.raises(BadRequest, match=r"no input 'z'; it takes x \(FP32 \[-1, 2\]\)"):
        find(SIGNATURE, "z")
    with pytest.raises(BadRequest, match="lacks the input 'x'"):
        complete(SIGNATURE, [])
    assert wanted(SIGNATURE, None) == ["y", "first"]
    with pytest.raises(BadRequest, match="no output 'z'"):
        wanted(SIGNATURE, ["z"])
    with pytest.raises(BadRequest, match="no signature 'z'"):
        signature_named(RUNTIME, "z")
    with pytest.raises(BadRequest, match="not JSON"):
        document(b"[" * 100_000)


def test_rows_are_counted_where_all_inputs_have_as_many() -> None:
    def query(**inputs: object) -> Query:
        return Query("s", inputs, [], lambda made: Response())

    assert query(a=numpy.zeros((3, 2)), b=numpy.zeros(3)).rows() == 3
    assert query(a=numpy.zeros((3, 2)), b=numpy.zeros(2)).rows() == 0
    assert query(a=numpy.array(1.0)).rows() == 0
    assert query(a=numpy.zeros((1, 2))).kind() == query(a=numpy.ones((5, 2))).kind()
    assert query(a=numpy.zeros((1, 2))).kind() != query(a=numpy.zeros((1, 3))).kind()
