"""Event files: what TensorBoard's own writers and ours write is read alike, from any offset, whatever is cut off."""

from __future__ import annotations

import io
import math
import os
import struct

import pytest

from runyard.contracts.formats.event_files import Damaged, EventFile, Scalar, scalars

POINTS = [
    Scalar("loss", 0.5, 0, 1_700_000_000.25),
    Scalar("train/acc", math.inf, 10**12, 1_700_000_001.0),
    Scalar("größe", -1.25, 3, 1_700_000_002.0),
]


def written(points: list[Scalar]) -> bytes:
    stream = io.BytesIO()
    EventFile(stream, 1_700_000_000.0).add(points)
    return stream.getvalue()


def test_what_was_written_is_read() -> None:
    data = written(POINTS)
    assert scalars(data) == (POINTS, len(data))


def test_a_file_that_grows_is_read_piece_by_piece() -> None:
    data = written(POINTS)
    found: list[Scalar] = []
    offset = 0
    for end in range(len(data) + 1):
        points, taken = scalars(data[offset:end])
        found += points
        offset += taken
    assert found == POINTS
    assert offset == len(data)


def test_values_that_are_no_numbers() -> None:
    (nan,), _ = scalars(written([Scalar("x", math.nan, 1, 0.0)]))
    assert math.isnan(nan.value)
    (large,), _ = scalars(written([Scalar("x", -1e300, -5, 0.0)]))
    assert (large.value, large.step) == (-math.inf, -5)


@pytest.mark.parametrize(
    "data",
    [b"\xff" * 64, struct.pack("<QI", 8, 0) + b"\x0a\xff\xff\xff\xff\x0f\x00\x00" + b"\0" * 4, b"PK\x03\x04" * 20],
    ids=["ones", "a field that ends nowhere", "an archive"],
)
def test_bytes_that_are_no_event_file_are_refused(data: bytes) -> None:
    with pytest.raises(Damaged):
        scalars(data)


def test_random_bytes_never_raise_anything_else() -> None:
    for length in range(200):
        record = os.urandom(length)
        framed = struct.pack("<QI", length, 0) + record + b"\0" * 4
        try:
            _, taken = scalars(framed)
        except Damaged:
            continue
        assert taken == len(framed)
