"""The few messages of ONNX Runtime server's binary form, read and written without a protobuf library.

PredictRequest: inputs = 2 (a map), output_filter = 3; PredictResponse: outputs = 1 (a map); both map to TensorProto.
"""

from __future__ import annotations

import struct
from typing import Any, Iterator, Mapping

_VARINT, _EIGHT, _BYTES, _FOUR = 0, 1, 2, 5


def read_request(body: bytes) -> dict[str, Any]:
    """In the form of the JSON, with bytes in the place of base64. ValueError for what is none."""
    inputs: dict[str, Any] = {}
    names: list[str] = []
    for number, value in _fields(body):
        if number == 2:
            entry = dict(_fields(_must_be_bytes(value)))
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
        tensor = b"".join(_key(1, _VARINT) + _varint(size) for size in shape) + _key(2, _VARINT) + _varint(kind)
        if texts is not None:
            tensor += b"".join(_piece(6, text) for text in texts)
        else:
            tensor += _piece(9, raw)
        made += _piece(1, _piece(1, name.encode()) + _piece(2, tensor))
    return made


_LISTS = {4: ("floatData", "<f", 4), 5: ("int32Data", "", 0), 7: ("int64Data", "", 0), 10: ("doubleData", "<d", 8)}


def _tensor(message: bytes) -> dict[str, Any]:
    found: dict[str, Any] = {"dims": []}
    for number, value in _fields(message):
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
        number, position = _read_varint(value, position)
        numbers.append(number)
    return [number - (1 << 64) if number >= 1 << 63 else number for number in numbers]


def _fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    position = 0
    while position < len(message):
        key, position = _read_varint(message, position)
        number, kind = key >> 3, key & 7
        if kind == _VARINT:
            value, position = _read_varint(message, position)
            yield number, value
            continue
        if kind == _BYTES:
            length, position = _read_varint(message, position)
        elif kind in (_EIGHT, _FOUR):
            length = 8 if kind == _EIGHT else 4
        else:
            raise ValueError(f"it has a field of the kind {kind}")
        if position + length > len(message):
            raise ValueError("it ends within a field")
        yield number, message[position : position + length]
        position += length


def _read_varint(message: bytes, position: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        if position >= len(message) or shift > 63:
            raise ValueError("it ends within a number")
        byte = message[position]
        position += 1
        number |= (byte & 127) << shift
        if byte < 128:
            return number, position
        shift += 7


def _must_be_bytes(value: int | bytes) -> bytes:
    if not isinstance(value, bytes):
        raise ValueError("a number stands where a message should be")
    return value


def _varint(number: int) -> bytes:
    made = bytearray()
    while number > 127:
        made.append(number & 127 | 128)
        number >>= 7
    made.append(number)
    return bytes(made)


def _key(number: int, kind: int) -> bytes:
    return _varint(number << 3 | kind)


def _piece(number: int, data: bytes) -> bytes:
    return _key(number, _BYTES) + _varint(len(data)) + data
