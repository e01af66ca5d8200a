"""If these fail, a body in chunks is cut off, runs into the next request, or grows without end."""

from __future__ import annotations

import pytest

from runyard.serving.http.chunks import Chunks
from runyard.serving.http.head import BadRequest

WHOLE = b"4\r\nWiki\r\n6;name=value\r\npedia \r\nE\r\nin \r\n\r\nchunks.\r\n0\r\nTrailer: x\r\n\r\nGET /"
BODY = b"Wikipedia in \r\n\r\nchunks."


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_it_does_not_matter_in_which_pieces_it_comes(size: int) -> None:
    chunks, rest = Chunks(1000), None
    for start in range(0, len(WHOLE), size):
        piece = WHOLE[start : start + size]
        rest = chunks.feed(piece) if rest is None else rest + piece
    assert bytes(chunks.body) == BODY
    assert rest == b"GET /"


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"zz\r\n", 400),
        (b"-1\r\n", 400),
        (b"3\r\nabcd\r\n", 400),
        (b"1" * 5000, 400),
        (b"ffffffffff\r\n", 413),
        (b"3e8\r\n" + b"a" * 1000 + b"\r\n1\r\n", 413),
        (b"0\r\n" + b"a: b\r\n" * 4000, 431),
    ],
)
def test_what_is_no_chunk_or_too_much_is_refused(data: bytes, status: int) -> None:
    with pytest.raises(BadRequest) as wrong:
        Chunks(1000).feed(data)
    assert wrong.value.status == status
