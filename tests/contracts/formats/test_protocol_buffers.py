"""If these fail, curves of event files and requests to ONNX services are misread, or hostile ones do harm."""

from __future__ import annotations

import contextlib
import random

import pytest

from runyard.contracts.formats.protocol_buffers import EIGHT, FOUR, block, field, fields, signed, whole


def test_what_was_written_is_read_again() -> None:
    message = whole(1, -1) + block(200, b"abc") + field(3, EIGHT, b"8" * 8) + field(4, FOUR, b"4" * 4) + whole(5, 0)
    assert [(name, value) for name, value in fields(message)] == [
        *((1, (1 << 64) - 1), (200, b"abc"), (3, b"8" * 8), (4, b"4" * 4), (5, 0)),
    ]
    assert [signed(each) for each in ((1 << 64) - 1, 1 << 63, 3)] == [-1, -(1 << 63), 3]


@pytest.mark.parametrize(
    ("message", "told"),
    [
        (b"\x0a\x05abc", "within a field"),
        (b"\x0a", "within a number"),
        (b"\x08" + b"\xff" * 11, "more than ten bytes"),
        (b"\x0b\x00", "of the kind 3"),
    ],
)
def test_what_is_no_message_is_told(message: bytes, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        list(fields(message))


def test_nothing_but_a_value_error_comes_of_any_bytes() -> None:
    source = random.Random(7)
    for _ in range(3000):
        with contextlib.suppress(ValueError):
            list(fields(bytes(source.randrange(256) for _ in range(source.randrange(12)))))
