"""What is sent between ranks arrives equal."""

from __future__ import annotations

from runyard.compat.horovod.core import objects


def test_an_object_comes_back_equal() -> None:
    value = {"a": [1, (2.5, None)], "b": "ä" * 1000, "c": {3}}
    assert objects.load(objects.dump(value)) == value
