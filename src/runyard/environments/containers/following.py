"""Following what an engine streams, such that a step which writes nothing for an hour can still be cancelled."""

from __future__ import annotations

import os
import queue
import socket
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator, TypeVar

if TYPE_CHECKING:
    from docker import DockerClient

LOOK_EVERY = 0.2

Piece = TypeVar("Piece")


def follow(client: DockerClient, start: Callable[[], Iterable[Piece]], check: Callable[[], None]) -> Iterator[Piece]:
    """Each piece of the stream that `start` opens. When `check` raises, or the caller stops, the connection is cut,
    and the engine gives up what it was doing."""
    answers: list[Any] = []
    pieces: queue.Queue[Piece] = queue.Queue()

    def read() -> None:
        for piece in start():
            pieces.put(piece)

    def remember(answer: Any, *_: Any, **__: Any) -> None:
        answers.append(answer)

    client.api.hooks["response"].append(remember)
    executor = ThreadPoolExecutor(1, "container-engine")
    reading = executor.submit(read)
    try:
        yield from _pieces(pieces, reading, check)
    finally:
        client.api.hooks["response"].remove(remember)
        if not reading.done():
            for answer in answers:
                _cut(answer)
        executor.shutdown(wait=False)


def _pieces(pieces: queue.Queue[Piece], reading: Future[None], check: Callable[[], None]) -> Iterator[Piece]:
    while True:
        check()
        ended = reading.done()  # read first: what it put before it ended is still found
        try:
            yield pieces.get(timeout=0 if ended else LOOK_EVERY)
        except queue.Empty:
            if ended:
                reading.result()
                return


def _cut(answer: Any) -> None:
    """Close the connection under the thread that reads from it."""
    try:
        with socket.socket(fileno=os.dup(answer.raw.fileno())) as connection:
            connection.shutdown(socket.SHUT_RDWR)
    except (OSError, ValueError, AttributeError):
        return  # it is closed already
