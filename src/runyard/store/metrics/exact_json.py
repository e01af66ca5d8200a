"""JSON that loses nothing: orjson where it is exact, the standard library where it is not.

orjson reads a whole number beyond 64 bits as a float, and refuses to write one; it refuses half a surrogate pair.
"""

from __future__ import annotations

import json
from typing import Any

import orjson

_DIGITS = bytes.maketrans(b"123456789", b"0" * 9)
_LONG_NUMBER = b"0" * 19


def loads(text: bytes) -> Any:
    """Read JSON; ValueError when it is none. Half a surrogate pair becomes U+FFFD: no database and no wire holds it."""
    # Most texts have no such number; this finds out at the speed of memory.
    if _LONG_NUMBER not in text.translate(_DIGITS):
        try:
            return orjson.loads(text)
        except orjson.JSONDecodeError:
            pass
    return _whole(json.loads(text.decode("utf-8", "surrogatepass"), parse_constant=_refuse))


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
