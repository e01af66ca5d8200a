"""If these fail, binary requests to ONNX services are misread, or hostile ones do harm."""

from __future__ import annotations

import random

import pytest

from runyard.serving.forms.protobuf import read_request, write_response


def test_numbers_negative_and_packed() -> None:
    tensor = bytes([10, 2, 1, 2]) + bytes([56]) + b"\xff" * 9 + b"\x01" + bytes([16, 7])
    entry = b"\x0a\x01x" + bytes([18, len(tensor)]) + tensor
    (found,) = read_request(bytes([18, len(entry)]) + entry)["inputs"].values()
    assert found == {"dims": [1, 2], "int64Data": [-1], "dataType": 7}


def test_what_was_written_can_be_read() -> None:
    written = write_response({"y": ([300, 2], 1, b"raw", None), "t": ([1], 8, b"", [b"a"])})
    again = written.replace(b"\x0a", b"\x12", 1)  # outputs are field 1, inputs field 2
    assert read_request(again)["inputs"]["y"] == {"dims": [300, 2], "dataType": 1, "rawData": b"raw"}


def test_nothing_but_a_value_error_comes_of_any_bytes() -> None:
    source = random.Random(7)
    for _ in range(3000):
        with pytest.raises(ValueError):  # noqa: PT011 - its text is the reason, whatever it is
            read_request(bytes(source.randrange(256) for _ in range(source.randrange(12))))
