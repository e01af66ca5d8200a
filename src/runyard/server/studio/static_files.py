"""The studio's scripts and styles: read once, compressed once, and cached by browsers for as long as they are these.

Their address holds a hash of all of them, so that modules name each other by relative paths and a new version of the
server is never mixed with an old one.
"""

from __future__ import annotations

import gzip
import hashlib
import posixpath
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from starlette.datastructures import Headers
from starlette.responses import Response

FOLDER = Path(__file__).parent / "static"
PREFIX = "/static"

_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".json": "application/json",
}
_IMPORT = re.compile(
    r"""^[ \t]*(?:import|(?:import\b[^;'"()]{0,2000}?|export\b[^;'"()=]{0,2000}?)\bfrom)[ \t]*"""
    r"""["'](\.[^"'\n]{1,300})["']""",
    re.MULTILINE,
)
FOR_EVER = "public, max-age=31536000, immutable"


@dataclass(frozen=True)
class StaticFile:
    content: bytes
    packed: bytes
    media_type: str
    etag: str

    @classmethod
    def of(cls, content: bytes, media_type: str, level: int = 9) -> StaticFile:
        etag = f'"{hashlib.sha256(content).hexdigest()[:20]}"'
        return cls(content, gzip.compress(content, level, mtime=0), media_type, etag)

    def answer(self, headers: Headers, cached: str) -> Response:
        """The answer to a request; `cached` is what the browser is told of keeping it."""
        own = {
            "ETag": self.etag,
            "Vary": "Accept-Encoding",
            "X-Content-Type-Options": "nosniff",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Cache-Control": cached,
        }
        if headers.get("if-none-match") == self.etag:
            return Response(status_code=304, headers=own)
        if "gzip" in headers.get("accept-encoding", "") and len(self.packed) < len(self.content):
            return Response(self.packed, headers={**own, "Content-Encoding": "gzip"}, media_type=self.media_type)
        return Response(self.content, headers=own, media_type=self.media_type)


@lru_cache(maxsize=1)
def files() -> dict[str, StaticFile]:
    """All of them, by their path below the folder."""
    found = {}
    for path in sorted(FOLDER.rglob("*")):
        if path.is_file() and path.suffix in _TYPES:
            found[path.relative_to(FOLDER).as_posix()] = StaticFile.of(path.read_bytes(), _TYPES[path.suffix])
    return found


@lru_cache(maxsize=1)
def version() -> str:
    """Changes whenever one of the files does."""
    every = hashlib.sha256()
    for name, file in files().items():
        every.update(f"{name}\0{file.etag}\n".encode())
    return every.hexdigest()[:12]


def address(name: str) -> str:
    """Where browsers get a file, such as `css/base.css`."""
    if name not in files():
        raise LookupError(f"there is no static file {name!r}")
    return f"{PREFIX}/{version()}/{name}"


@lru_cache(maxsize=256)
def modules(name: str) -> tuple[str, ...]:
    """A module and all that it imports, so that a browser can ask for them at once."""
    found: dict[str, None] = {}
    waiting = [name]
    while waiting:
        each = waiting.pop(0)
        if each in found:
            continue
        found[each] = None
        for imported in _IMPORT.findall(files()[each].content.decode("utf-8")):
            waiting.append(posixpath.normpath(posixpath.join(posixpath.dirname(each), imported)))
    return tuple(found)


def answer(name: str, asked_version: str, headers: Headers) -> Response | None:
    """The answer to a request; None for a name that no file has."""
    file = files().get(name)
    if file is None:
        return None
    # A page that an older server has sent asks for its version, and gets this one: it must ask again.
    return file.answer(headers, FOR_EVER if asked_version == version() else "no-cache")
