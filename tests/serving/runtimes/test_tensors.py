"""If these fail, a model gets other numbers than the client sent."""

from __future__ import annotations

import numpy
import pytest

from runyard.serving.http.head import BadRequest
from runyard.serving.runtimes.base import Tensor
from runyard.serving.runtimes.tensors import DTYPES, datatype_of, from_bytes, from_flat, from_lists, to_bytes, to_lists

FLOATS, WHOLE = Tensor("x", "FP32", (None, 2)), Tensor("n", "INT8", (None,))


def test_lists_become_what_the_model_takes() -> None:
    assert from_lists(FLOATS, [[1, 2]]).dtype == numpy.float32
    assert from_lists(WHOLE, [1, -2]).tolist() == [1, -2]
    assert from_lists(Tensor("t", "BYTES", (None,)), ["a", "b"]).dtype == object
    assert from_lists(Tensor("u", "", None), [1.5]).dtype == numpy.float32


@pytest.mark.parametrize(
    ("tensor", "data"),
    [(FLOATS, [[1]]), (FLOATS, [[1, 2], [3]]), (FLOATS, [["a", "b"]]), (WHOLE, [1.5]), (WHOLE, [300]), (WHOLE, [True])],
)
def test_what_does_not_fit_is_refused_by_name(tensor: Tensor, data: object) -> None:
    with pytest.raises(BadRequest, match=f"'{tensor.name}'") as wrong:
        from_lists(tensor, data)
    assert wrong.value.status == 400


@pytest.mark.parametrize("datatype", DTYPES)
def test_bytes_and_back(datatype: str) -> None:
    values = [b"a", "ü".encode(), b""] if datatype == "BYTES" else [1, 0, 1]
    array = numpy.array(values, DTYPES[datatype])
    again = from_bytes(Tensor("x", datatype, None), to_bytes(array, datatype), [3, 1], datatype)
    assert again.shape == (3, 1)
    assert again.ravel().tolist() == array.tolist()
    assert datatype_of(again) == datatype


@pytest.mark.parametrize(
    ("data", "shape", "datatype"),
    [
        (b"123", [1], "FP32"),
        (b"1234", [2], "FP32"),
        (b"\x05\x00\x00\x00abc", [1], "BYTES"),
        (b"\x05\x00", [1], "BYTES"),
        (b"", [0], "COMPLEX"),
    ],
)
def test_bytes_that_are_none_of_that_type(data: bytes, shape: list[int], datatype: str) -> None:
    with pytest.raises(BadRequest):
        from_bytes(Tensor("x", "", None), data, shape, datatype)


def test_a_shape_that_was_told_must_be_true() -> None:
    assert from_flat(FLOATS, [1, 2, 3, 4], [2, 2], "FP32").tolist() == [[1, 2], [3, 4]]
    with pytest.raises(BadRequest, match="4 elements"):
        from_flat(FLOATS, [1, 2, 3, 4], [3, 2], "FP32")
    with pytest.raises(BadRequest, match="FP64 was sent"):
        from_flat(FLOATS, [1, 2], [1, 2], "FP64")


def test_bytes_become_text_in_json() -> None:
    assert to_lists(numpy.array([b"a", "b"], object)) == ["a", "b"]
    assert to_lists(numpy.array([], object)) == []
