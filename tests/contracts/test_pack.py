"""Packs carry many objects in one stream: each comes out whole, or the pack is refused."""

from __future__ import annotations

import hashlib
import io

import pytest

from runyard.contracts import pack
from runyard.contracts.pack import BadPack


def packed(*contents: bytes) -> bytes:
    return b"".join(pack.header(hashlib.sha256(each).hexdigest(), len(each)) + each for each in contents)


def unpacked(text: bytes) -> list[tuple[str, int, bytes]]:
    return [(digest, size, b"".join(chunks)) for digest, size, chunks in pack.read(io.BytesIO(text))]


def test_objects_come_out_as_they_went_in() -> None:
    contents = [b"", b"one\n", b"\0" * (pack.CHUNK + 1)]
    assert unpacked(packed(*contents)) == [(hashlib.sha256(each).hexdigest(), len(each), each) for each in contents]
    assert unpacked(b"") == []


def test_the_digest_of_a_stream() -> None:
    content = b"x" * (pack.CHUNK + 7)
    stream = io.BytesIO(b"head" + content)
    stream.seek(4)
    assert pack.digest_of(stream) == (hashlib.sha256(content).hexdigest(), len(content))


def test_an_object_that_is_cut_off() -> None:
    with pytest.raises(BadPack, match="2 bytes early"):
        unpacked(packed(b"whole", b"torn")[:-2])


@pytest.mark.parametrize(
    "text", [b"\n", b"x 3\nabc", b"0" * 64 + b"\n", b"0" * 64 + b" -1\n", b"A" * 64 + b" 1\na", b"\xff" * 64 + b" 1\na"]
)
def test_headers_of_another_form_are_refused(text: bytes) -> None:
    with pytest.raises(BadPack, match="<sha256> <size>"):
        unpacked(text)


@pytest.mark.parametrize("text", ["0" * 63, "0" * 65, "g" * 64, "0" * 64 + "\n", None, 7, b"0" * 64])
def test_what_is_no_digest(text: object) -> None:
    assert not pack.is_digest(text)
    assert pack.is_digest("0f" * 32)
