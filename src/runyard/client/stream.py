"""Responses that are read piece by piece, and the server-sent events in some of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Iterator, Mapping, NamedTuple

from runyard.client.problems import Unreachable

if TYPE_CHECKING:
    from runyard.client.exchange import Connection, Response

CHUNK = 1 << 18


class Event(NamedTuple):
    """One server-sent event."""

    name: str
    value: Any


QUIET = Event("quiet", None)
"""A heartbeat: the server sends one every few seconds when nothing happens."""


class Stream:
    """A response that is read piece by piece, over its own connection; leave the `with` block to close it."""

    def __init__(
        self,
        connection: Connection,
        response: Response,
        broken: Callable[[BaseException], Unreachable],
    ) -> None:
        self._connection, self._response, self._broken = connection, response, broken
        self.status = response.status
        self.headers: Mapping[str, str] = dict(response.headers.items())
        length = response.headers.get("Content-Length")
        self.length = int(length) if length is not None else None
        self.file_hash: str | None = response.headers.get("X-Runyard-Hash")  # of the whole file, though a part is sent

    def read(self, size: int = -1) -> bytes:
        """Up to `size` bytes; b"" at the end. A response that breaks off before its end is `Unreachable`."""
        return self._checked(lambda: self._response.read(None if size < 0 else size))

    def readline(self, limit: int = -1) -> bytes:
        return self._checked(lambda: self._response.readline(limit))

    def __iter__(self) -> Iterator[bytes]:
        return iter(lambda: self.read(CHUNK), b"")

    def _checked(self, read: Callable[[], bytes]) -> bytes:
        try:
            return read()
        except OSError as error:
            raise self._broken(error) from error

    def close(self) -> None:
        self._connection.close()
