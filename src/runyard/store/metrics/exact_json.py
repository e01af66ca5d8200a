"""JSON that loses nothing: orjson where it is exact, the standard library where it is not.

orjson reads a whole number beyond 64 bits as a float, and refuses to write one; it refuses half a surrogate pair.
"""

from __future__ import annotations

import json
from typing import Any

import orjson

_DIGITS = bytes.maketrans(b"123456789", b"0" * 9)
_LONG_NUMBER = b"0" * 19
_POINT, _DIGIT = ord("."), ord("0")


def loads(text: bytes) -> Any:
    """Read JSON; ValueError when it is none. Half a surrogate pair becomes U+FFFD: no database and no wire holds it."""
    if not _has_long_whole(text):
        try:
            return orjson.loads(text)
        except orjson.JSONDecodeError:
            pass
    return _whole(json.loads(text.decode("utf-8", "surrogatepass"), parse_constant=_refuse))


def _has_long_whole(text: bytes) -> bool:
    """Whether there may be a whole number beyond 64 bits. The digits after a point are none, and many small floats have
    that many: 0.0012345678901234567."""
    digits = text.translate(_DIGITS)
    at = digits.find(_LONG_NUMBER)  # most texts have none, which is found out at the speed of memory
    while at >= 0:
        if at == 0 or digits[at - 1] != _POINT:
            return True
        at += len(_LONG_NUMBER)
        while at < len(digits) and digits[at] == _DIGIT:
            at += 1
        at = digits.find(_LONG_NUMBER, at)
    return False


def dumps(value: Any) -> bytes:
    try:
        return orjson.dumps(value)
    except orjson.JSONEncodeError:
        return json.dumps(value, allow_nan=False, separators=(",", ":")).encode("ascii")


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def _whole(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_whole(item) for item in value]
    if isinstance(value, dict):
        return {_whole(key): _whole(item) for key, item in value.items()}
    return value
