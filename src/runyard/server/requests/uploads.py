"""Bodies on their way in: in pieces, from the event loop to a thread that may block, never a whole file in memory."""

from __future__ import annotations

import errno
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import IO

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from runyard.contracts import pack
from runyard.server.middleware.problems import Problem
from runyard.store.content.objects import Objects, ObjectWriter
from runyard.store.errors import disk_full

PIECE = 1 << 20
LONGEST_LINE = 256 << 20
_LONGEST_HEADER = 100


async def pieces(request: Request) -> AsyncIterator[bytes]:
    """The body in pieces of about a megabyte, so that going to a thread for each of them costs little."""
    pending: list[bytes] = []
    size = 0
    async for chunk in request.stream():
        pending.append(chunk)
        size += len(chunk)
        if size >= PIECE:
            yield b"".join(pending)
            pending.clear()
            size = 0
    if size:
        yield b"".join(pending)


async def lines(request: Request) -> AsyncIterator[bytes]:
    """The body in pieces that end where a line ends; only the last may not."""
    pending = bytearray()
    async for piece in pieces(request):
        pending += piece
        end = pending.rfind(b"\n") + 1
        if end:
            yield bytes(pending[:end])
            del pending[:end]
        elif len(pending) > LONGEST_LINE:
            title = f"A line of the journal is longer than {LONGEST_LINE >> 20} MiB."
            raise Problem("bad_journal", title, "Log large tables and lists in several pieces, or as a file.")
    if pending:
        yield bytes(pending)


@asynccontextmanager
async def spooled(request: Request, folder: Path, most: int) -> AsyncIterator[IO[bytes]]:
    """The body in a file that has no name, in memory only while it is small; read it from its start. Refused when it
    has more than so many bytes."""
    with tempfile.SpooledTemporaryFile(PIECE, dir=str(folder)) as file:
        size = 0
        async for piece in pieces(request):
            size += len(piece)
            if size > most:
                help = "Send less; of a folder, a file .amlignore at its top says what to leave out."
                raise Problem("too_large", f"The body of the request is larger than {most >> 20} MiB.", help)
            try:
                await run_in_threadpool(file.write, piece)
            except OSError as error:
                if error.errno in (errno.ENOSPC, errno.EDQUOT):
                    raise disk_full(folder) from error
                raise
        file.seek(0)
        yield file


async def receive_object(request: Request, objects: Objects) -> ObjectWriter:
    """Write the body aside. The caller finishes or aborts the writer."""
    writer = await run_in_threadpool(objects.writer)
    try:
        async for piece in pieces(request):
            await run_in_threadpool(writer.write, piece)
    except BaseException:
        writer.abort()
        raise
    return writer


async def receive_pack(request: Request, objects: Objects, stored: Callable[[int], None]) -> int:
    """Store every object of a pack and count them; `stored` is called with the bytes. Objects before a fault stay:
    they are complete, and may be needed."""
    unpacker = _Unpacker(objects)
    try:
        async for piece in pieces(request):
            await run_in_threadpool(unpacker.feed, piece)
            stored(len(piece))
        unpacker.end()
    except BaseException:
        unpacker.abort()
        raise
    return unpacker.count


class _Unpacker:
    """Takes a pack apart as it comes in, whatever the borders of its pieces."""

    def __init__(self, objects: Objects) -> None:
        self.count = 0
        self._objects = objects
        self._header = b""
        self._digest = ""
        self._left = 0
        self._writer: ObjectWriter | None = None

    def feed(self, piece: bytes) -> None:
        view = memoryview(piece)
        while view:
            if self._writer is None:
                view = self._read_header(view)
            else:
                part = view[: self._left]
                self._writer.write(bytes(part))
                self._left -= len(part)
                view = view[len(part) :]
            if self._writer is not None and self._left == 0:
                writer, self._writer = self._writer, None
                writer.finish(self._digest)
                self.count += 1

    def end(self) -> None:
        if self._writer is not None:
            raise pack.BadPack(f"the stream ended {self._left} bytes early")
        if self._header:
            raise pack.BadPack("the stream ended within the line before an object")

    def abort(self) -> None:
        if self._writer is not None:
            self._writer.abort()

    def _read_header(self, view: memoryview) -> memoryview:
        start = bytes(view[:_LONGEST_HEADER])
        end = start.find(b"\n") + 1
        self._header += start[:end] if end else start
        if len(self._header) > _LONGEST_HEADER:
            raise pack.BadPack(f"the line before object {self.count + 1} is too long")
        if not end:
            return view[len(start) :]
        self._digest, self._left = pack.parse_header(self._header)
        self._header = b""
        self._writer = self._objects.writer()
        return view[end:]
