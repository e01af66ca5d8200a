"""Arrays from what a client sends, checked against what a model takes, and back.

A request that does not fit is refused with the name of the input, what was expected and what came.
"""

from __future__ import annotations

import math
import struct
from typing import Any

import numpy

from runyard.serving.http.head import BadRequest
from runyard.serving.runtimes.base import Array, Shape, Tensor

DTYPES: dict[str, Any] = {
    "BOOL": numpy.bool_,
    "UINT8": numpy.uint8,
    "UINT16": numpy.uint16,
    "UINT32": numpy.uint32,
    "UINT64": numpy.uint64,
    "INT8": numpy.int8,
    "INT16": numpy.int16,
    "INT32": numpy.int32,
    "INT64": numpy.int64,
    "FP16": numpy.float16,
    "FP32": numpy.float32,
    "FP64": numpy.float64,
    "BYTES": numpy.object_,
}
"""By the names of the open inference protocol."""

MOST_DIMENSIONS = 32
"""What every version of numpy can hold."""

_NAMES = {numpy.dtype(dtype): name for name, dtype in DTYPES.items()}


def datatype_of(array: Array) -> str:
    return _NAMES.get(array.dtype, "BYTES")


def from_lists(tensor: Tensor, data: Any) -> Array:
    """An array from nested lists, or one value. Numbers become what the model takes if nothing is lost by it."""
    dtype = DTYPES.get(tensor.datatype)
    try:
        if dtype is numpy.object_:
            made = numpy.array(data, dtype=object)
        elif dtype is None:
            made = numpy.array(data)
            if made.dtype == numpy.float64:
                made = made.astype(numpy.float32)
        elif numpy.dtype(dtype).kind == "f":
            made = numpy.array(data, dtype=dtype)
        else:
            made = _whole(tensor, numpy.array(data), dtype)
    except (ValueError, TypeError, OverflowError) as error:
        raise BadRequest(400, f"{named(tensor)} cannot be made from what was sent: {error}.") from error
    check_shape(tensor, made.shape)
    return made


def _whole(tensor: Tensor, made: Array, dtype: Any) -> Array:
    if (made.size and made.dtype.kind not in "iub") or (made.dtype.kind == "b") != (numpy.dtype(dtype).kind == "b"):
        raise BadRequest(400, f"{named(tensor)} holds values of another kind ({_NAMES.get(made.dtype, made.dtype)}).")
    cast = made.astype(dtype)
    if not numpy.array_equal(cast, made):
        raise BadRequest(400, f"{named(tensor)} holds values that do not fit into its type.")
    return cast


def from_flat(tensor: Tensor, data: Any, shape: list[int], datatype: str) -> Array:
    """An array from a list, flat or nested, of which the client has told shape and type."""
    check_datatype(tensor, datatype)
    made = from_lists(Tensor(tensor.name, datatype, None), data)
    return _shaped(tensor, made, shape)


def from_bytes(tensor: Tensor, data: bytes, shape: list[int], datatype: str) -> Array:
    """An array from bytes in little-endian order; BYTES has the length before each element."""
    check_datatype(tensor, datatype)
    if datatype == "BYTES":
        made = numpy.array(_elements(tensor, data), dtype=object)
    else:
        dtype = numpy.dtype(DTYPES[datatype]).newbyteorder("<")
        if len(data) % dtype.itemsize:
            raise BadRequest(400, f"{named(tensor)}: {len(data)} bytes are not a number of elements of {datatype}.")
        made = numpy.frombuffer(data, dtype=dtype)
    return _shaped(tensor, made, shape)


def to_bytes(array: Array, datatype: str) -> bytes:
    if datatype == "BYTES":
        parts = [each if isinstance(each, bytes) else str(each).encode() for each in array.ravel().tolist()]
        return b"".join(struct.pack("<I", len(part)) + part for part in parts)
    return bytes(numpy.ascontiguousarray(array, dtype=numpy.dtype(DTYPES[datatype]).newbyteorder("<")).tobytes())


def to_lists(array: Array) -> Any:
    """Nested lists for JSON. Bytes become text."""
    if array.dtype.kind in "OSU":
        return numpy.vectorize(_text, otypes=[object])(array).tolist() if array.size else array.tolist()
    return array.tolist()


def check_datatype(tensor: Tensor, datatype: str) -> None:
    if datatype not in DTYPES:
        raise BadRequest(400, f"{named(tensor)} has the datatype {datatype!r}, which is none of {', '.join(DTYPES)}.")
    if tensor.datatype and datatype != tensor.datatype:
        raise BadRequest(400, f"{named(tensor)}; {datatype} was sent.")


def check_shape(tensor: Tensor, shape: tuple[int, ...]) -> None:
    expected = tensor.shape
    if expected is None:
        return
    fits = len(shape) == len(expected) and all(size is None or size == given for size, given in zip(expected, shape))
    if not fits:
        raise BadRequest(400, f"{named(tensor)}; the shape {_shown(shape)} was sent.")


def named(tensor: Tensor) -> str:
    """The input and what it should be, for messages."""
    return f"The input {tensor.name!r} is expected to be {tensor.datatype or 'of any type'} {_shown(tensor.shape)}"


def _shown(shape: Shape) -> str:
    return "of any shape" if shape is None else str([-1 if size is None else size for size in shape])


def _shaped(tensor: Tensor, made: Array, shape: list[int]) -> Array:
    if len(shape) > MOST_DIMENSIONS:
        raise BadRequest(400, f"The shape of the input {tensor.name!r} has {len(shape)} dimensions.")
    size = math.prod(shape)
    if size != made.size:
        raise BadRequest(400, f"The input {tensor.name!r} has {made.size} elements, but its shape {shape} has {size}.")
    try:
        made = made.reshape(shape)
    except (ValueError, OverflowError) as error:  # a size that no array can have, or a negative one
        raise BadRequest(400, f"The input {tensor.name!r} cannot have the shape {shape}.") from error
    check_shape(tensor, made.shape)
    return made


def _elements(tensor: Tensor, data: bytes) -> list[bytes]:
    found, position = [], 0
    while position < len(data):
        if position + 4 > len(data):
            raise BadRequest(400, f"The input {tensor.name!r} ends within the length of an element.")
        (length,) = struct.unpack_from("<I", data, position)
        position += 4
        if position + length > len(data):
            raise BadRequest(400, f"The input {tensor.name!r} ends within an element.")
        found.append(bytes(data[position : position + length]))
        position += length
    return found


def _text(value: Any) -> Any:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value
