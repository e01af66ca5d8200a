"""The few messages of ONNX Runtime server's binary form, read and written without a protobuf library.

PredictRequest: inputs = 2 (a map), output_filter = 3; PredictResponse: outputs = 1 (a map); both map to TensorProto.
"""

from __future__ import annotations

import struct
from typing import Any, Mapping

from runyard.contracts.formats.protocol_buffers import block, fields, read_varint, signed, whole


def read_request(body: bytes) -> dict[str, Any]:
    """In the form of the JSON, with bytes in the place of base64. ValueError for what is none."""
    inputs: dict[str, Any] = {}
    names: list[str] = []
    for number, value in fields(body):
        if number == 2:
            entry = dict(fields(_must_be_bytes(value)))
            inputs[_must_be_bytes(entry.get(1, b"")).decode()] = _tensor(_must_be_bytes(entry.get(2, b"")))
        elif number == 3:
            names.append(_must_be_bytes(value).decode())
    if not inputs:
        raise ValueError("it has no inputs")
    return {"inputs": inputs, "outputFilter": names}


def write_response(outputs: Mapping[str, tuple[list[int], int, bytes, list[bytes] | None]]) -> bytes:
    """Outputs by name: shape, type, raw bytes, texts."""
    made = b""
    for name, (shape, kind, raw, texts) in outputs.items():
        tensor = b"".join(whole(1, size) for size in shape) + whole(2, kind)
        if texts is not None:
            tensor += b"".join(block(6, text) for text in texts)
        else:
            tensor += block(9, raw)
        made += block(1, block(1, name.encode()) + block(2, tensor))
    return made


_LISTS = {4: ("floatData", "<f", 4), 5: ("int32Data", "", 0), 7: ("int64Data", "", 0), 10: ("doubleData", "<d", 8)}


def _tensor(message: bytes) -> dict[str, Any]:
    found: dict[str, Any] = {"dims": []}
    for number, value in fields(message):
        if number == 1:
            found["dims"] += _numbers(value)
        elif number == 2:
            found["dataType"] = value
        elif number == 9:
            found["rawData"] = _must_be_bytes(value)
        elif number == 6:
            found.setdefault("stringData", []).append(_must_be_bytes(value))
        elif number in _LISTS:
            name, form, size = _LISTS[number]
            values = found.setdefault(name, [])
            if form:
                data = _must_be_bytes(value)
                if len(data) % size:
                    raise ValueError("a list of numbers ends within one")
                values += [each[0] for each in struct.iter_unpack(form, data)]
            else:
                values += _numbers(value)
    return found


def _numbers(value: int | bytes) -> list[int]:
    """Varints, one by one or packed; large ones stand for negative ones."""
    numbers = [value] if isinstance(value, int) else []
    position = 0
    while isinstance(value, bytes) and position < len(value):
        number, position = read_varint(value, position)
        numbers.append(number)
    return [signed(each) for each in numbers]


def _must_be_bytes(value: int | bytes) -> bytes:
    if not isinstance(value, bytes):
        raise ValueError("a number stands where a message should be")
    return value
