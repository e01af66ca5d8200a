"""Many objects in one stream: for each, a header line `<sha256> <size>\\n`, then its bytes.

The same form is used in both directions: a client uploads what the server lacks, a node fetches what a snapshot needs.
"""

from __future__ import annotations

import hashlib
import re
from typing import BinaryIO, Iterator

CHUNK = 1 << 20

_DIGEST = re.compile("[0-9a-f]{64}")


class BadPack(ValueError):
    """The stream does not follow the form."""


def header(digest: str, size: int) -> bytes:
    return b"%s %d\n" % (digest.encode("ascii"), size)


def parse_header(text: bytes) -> tuple[str, int]:
    digest, _, size = text.strip().partition(b" ")
    if not is_digest(digest.decode("ascii", "replace")) or not size.isdigit():
        raise BadPack("expected '<sha256> <size>' before an object's bytes")
    return digest.decode("ascii"), int(size)


def is_digest(text: object) -> bool:
    return isinstance(text, str) and _DIGEST.fullmatch(text) is not None


def digest_of(stream: BinaryIO) -> tuple[str, int]:
    """The SHA-256 and the length of what is left in a stream."""
    seen, size = hashlib.sha256(), 0
    while True:
        chunk = stream.read(CHUNK)
        if not chunk:
            return seen.hexdigest(), size
        seen.update(chunk)
        size += len(chunk)


def read(stream: BinaryIO) -> Iterator[tuple[str, int, Iterator[bytes]]]:
    """Walk a pack: (digest, size, chunks). The chunks of one object must be read before the next object."""
    while True:
        first = stream.readline(100)
        if not first:
            return
        digest, size = parse_header(first)
        yield digest, size, _chunks(stream, size)


def _chunks(stream: BinaryIO, size: int) -> Iterator[bytes]:
    left = size
    while left:
        chunk = stream.read(min(CHUNK, left))
        if not chunk:
            raise BadPack(f"the stream ended {left} bytes early")
        left -= len(chunk)
        yield chunk
