"""A body that comes in chunks, of which nobody knows the length before its end."""

from __future__ import annotations

import re

from runyard.serving.http.head import BadRequest

MOST_LINE = 4096
MOST_TRAILERS = 16 * 1024

_SIZE = re.compile(rb"([0-9a-fA-F]{1,12})[ \t]*(?:;.*)?$").match


class Chunks:
    """Takes bytes as they come; `body` is whole when `feed` has returned what lies behind it."""

    def __init__(self, most: int) -> None:
        self.body = bytearray()
        self._most = most
        self._held = bytearray()
        self._left = 0  # of the chunk that is being read, with the two bytes behind it
        self._trailers = -1  # bytes of trailers seen, once the last chunk was

    def feed(self, data: bytes) -> bytes | None:
        """None: more is needed. Otherwise the body is whole, and this came behind it. BadRequest."""
        self._held += data
        while True:
            if self._trailers >= 0:
                return self._after_trailers()
            if self._left:
                if not self._take():
                    return None
                continue
            end = self._held.find(b"\r\n")
            if end < 0:
                if len(self._held) > MOST_LINE:
                    raise BadRequest(400, "A chunk of the body begins with a line that is too long.")
                return None
            found = _SIZE(bytes(self._held[:end]))
            if found is None:
                raise BadRequest(400, "A chunk of the body does not begin with its size.")
            del self._held[: end + 2]
            size = int(found[1], 16)
            if len(self.body) + size > self._most:
                raise BadRequest(413, f"The body is larger than {self._most} bytes, which is the most that is taken.")
            if size:
                self._left = size + 2
            else:
                self._trailers = 0

    def _take(self) -> bool:
        """Move what there is of the chunk to the body; whether it is whole."""
        if self._left > 2:
            data = self._held[: self._left - 2]
            self.body += data
            del self._held[: len(data)]
            self._left -= len(data)
        if self._left > 2 or len(self._held) < 2:
            return False
        if self._held[:2] != b"\r\n":
            raise BadRequest(400, "A chunk of the body is not as long as it says.")
        del self._held[:2]
        self._left = 0
        return True

    def _after_trailers(self) -> bytes | None:
        while True:
            end = self._held.find(b"\r\n")
            if end < 0:
                if self._trailers + len(self._held) > MOST_TRAILERS:
                    raise BadRequest(431, "What follows the body is too long.")
                return None
            self._trailers += end + 2
            del self._held[: end + 2]
            if end == 0:
                return bytes(self._held)
            if self._trailers > MOST_TRAILERS:
                raise BadRequest(431, "What follows the body is too long.")
