"""Bytes on their way out: files in ranges and many objects as a pack, read in threads piece by piece."""

from __future__ import annotations

import mimetypes
import re
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote

from starlette.concurrency import iterate_in_threadpool, run_in_threadpool
from starlette.responses import Response, StreamingResponse

from runyard.contracts import pack
from runyard.contracts.history import LOG_PREFIXES
from runyard.server.middleware.problems import Problem
from runyard.store.content.objects import Objects

PIECE = 1 << 18

_RANGE = re.compile(r"bytes=(\d{0,20})-(\d{0,20})", re.ASCII)


def file_response(file: BinaryIO, size: int, name: str, asked: str | None, digest: str | None) -> Response:
    """Answer with an open file, or with the range of it that was asked for. The file is closed in the end.

    `digest` is the hash of the whole file, for whoever has all of it to check; None for one that still grows.
    """
    try:
        start, end = _range(asked, size)
    except Problem:
        file.close()
        raise
    headers = {
        "Accept-Ranges": "bytes",
        "Content-Length": str(end - start),
        # What runs have written is shown, never run: not even a page or a drawing with a script in it.
        "Content-Security-Policy": "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:",
        "X-Content-Type-Options": "nosniff",
    }
    if digest is not None:
        headers["X-Runyard-Hash"] = digest
    media_type = _media_type(name)
    if not _harmless(media_type):
        headers["Content-Disposition"] = _attachment(name)
    partial = end - start < size and end > start
    if partial:
        headers["Content-Range"] = f"bytes {start}-{end - 1}/{size}"
    return StreamingResponse(_read(file, start, end), 206 if partial else 200, headers, media_type)


def _attachment(name: str) -> str:
    """A name that is no UTF-8 has a question mark for what cannot be told in it."""
    return f"attachment; filename*=UTF-8''{quote(name.rpartition('/')[2], safe='', errors='replace')}"


def opened(local: str, source: str) -> BinaryIO:
    """A file on the server's disk that is part of some data."""
    try:
        return Path(local).open("rb")
    except OSError as error:
        raise Problem("file_not_found", f"{source} cannot be read: {error.strerror}.") from None


def ranged_response(
    read: Callable[[int, int], Iterator[bytes]], size: int, name: str, asked: str | None, etag: str | None
) -> Response:
    """Answer with bytes that are elsewhere, or with the range of them that was asked for; `read` gives a range."""
    start, end = _range(asked, size)
    headers = {
        "Accept-Ranges": "bytes",
        "Content-Length": str(end - start),
        "X-Content-Type-Options": "nosniff",
        "Content-Disposition": _attachment(name),
    }
    if etag is not None:
        headers["ETag"] = etag
    partial = end - start < size and end > start
    if partial:
        headers["Content-Range"] = f"bytes {start}-{end - 1}/{size}"
    content = iterate_in_threadpool(read(start, end))
    return StreamingResponse(content, 206 if partial else 200, headers, "application/octet-stream")


def pack_response(objects: Objects, wanted: Sequence[tuple[str, int]]) -> Response:
    """Answer with a pack of objects, each given as its digest and size."""
    length = sum(len(pack.header(digest, size)) + size for digest, size in wanted)
    headers = {"Content-Length": str(length)}
    content = iterate_in_threadpool(_pack(objects, wanted))
    return StreamingResponse(content, headers=headers, media_type="application/octet-stream")


def _range(asked: str | None, size: int) -> tuple[int, int]:
    """From where to where (without the end). A range that begins at the end is empty: there is nothing new yet."""
    if asked is None:
        return 0, size
    found = _RANGE.fullmatch(asked.strip())
    first, last = found.groups() if found else ("", "")
    if not first and not last:
        raise _bad_range(asked, size, "Ask for `bytes=<from>-`, `bytes=<from>-<to>` or `bytes=-<count>`.")
    if not first:
        return max(0, size - int(last)), size
    start, end = int(first), min(int(last) + 1, size) if last else size
    if start > size or (last and int(last) < start):
        raise _bad_range(asked, size, f"The file has {size} bytes.")
    return start, max(start, end)


def _bad_range(asked: str, size: int, help: str) -> Problem:
    return Problem("bad_range", f"The range {asked[:80]!r} cannot be answered.", help, {"size": size})


async def _read(file: BinaryIO, start: int, end: int) -> AsyncIterator[bytes]:
    with file:
        await run_in_threadpool(file.seek, start)
        left = end - start
        while left:
            piece = await run_in_threadpool(file.read, min(PIECE, left))
            if not piece:
                return  # it was emptied meanwhile; the reader notices the missing length
            left -= len(piece)
            yield piece


def _pack(objects: Objects, wanted: Sequence[tuple[str, int]]) -> Iterator[bytes]:
    """Small objects are sent together: each piece costs a change of threads."""
    pending = bytearray()
    for digest, size in wanted:
        pending += pack.header(digest, size)
        with objects.open(digest) as file:
            while chunk := file.read(PIECE):
                pending += chunk
                if len(pending) >= PIECE:
                    yield bytes(pending)
                    pending.clear()
    if pending:
        yield bytes(pending)


def _media_type(name: str) -> str:
    if name.startswith(LOG_PREFIXES):
        return "text/plain; charset=utf-8"
    kind, encoding = mimetypes.guess_type(name)
    if kind is None or encoding is not None:
        return "application/octet-stream"
    return f"{kind}; charset=utf-8" if kind.startswith("text/") else kind


def _harmless(media_type: str) -> bool:
    """Whether a browser may show it in place."""
    return media_type.startswith(("text/", "image/")) and not media_type.startswith(("text/html", "image/svg"))
