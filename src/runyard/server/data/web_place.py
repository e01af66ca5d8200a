"""The files of a datastore that is a web address. They cannot be listed, only named one by one, and not be written."""

from __future__ import annotations

import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import quote

from runyard.server.data import web
from runyard.server.data.places import Place, Stored
from runyard.server.middleware.problems import Problem

PIECE = 1 << 20


class WebPlace(Place):
    def __init__(self, name: str, url: str) -> None:
        self._name = name
        self._url = url.rstrip("/")

    def files(self, below: str = "", after: str | None = None, facts: bool = True) -> Iterator[Stored]:
        found = self.look(below) if below else None
        if found is None:
            raise Problem(
                "source_empty",
                f"The datastore {self._name!r} is a web address, and has no file {below!r}: {self._address(below)}.",
                "A web address cannot be listed: name its files one by one, without wildcards.",
            )
        if after is None or below > after:
            yield found

    def look(self, path: str) -> Stored | None:
        try:
            seen = web.look(self._address(path))
        except web.Unreachable:
            return None
        return Stored(path, seen.size, seen.etag, seen.modified)

    def read(self, path: str, start: int, end: int) -> Iterator[bytes]:
        headers = {"User-Agent": web.AGENT, "Range": f"bytes={start}-{end - 1}"}
        request = urllib.request.Request(self._address(path), headers=headers)
        with urllib.request.urlopen(request, timeout=web.TIMEOUT) as answer:
            if answer.status != 206:
                answer.read(start)
            left = end - start
            while left > 0 and (piece := answer.read(min(PIECE, left))):
                left -= len(piece)
                yield piece

    def take(self, path: str, source: Path) -> None:
        raise self._read_only()

    def remove(self, path: str) -> None:
        raise self._read_only()

    def addresses(self, paths: Sequence[str], method: str = "GET") -> list[str | None]:
        return [self._address(path) if method == "GET" else None for path in paths]

    def known_as(self, path: str) -> str | None:
        return self._address(path)

    def _address(self, path: str) -> str:
        return f"{self._url}/{quote(path, safe='/~')}"

    def _read_only(self) -> Problem:
        return Problem(
            "bad_datastore",
            f"The datastore {self._name!r} is a web address, and cannot be written to.",
            "Use a folder or an object store.",
        )
