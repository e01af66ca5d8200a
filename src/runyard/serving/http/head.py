"""The head of a request: what is in it, and whether it is one. Strict where proxies and servers could disagree."""

from __future__ import annotations

import re
from urllib.parse import unquote

CHUNKED = -1
MOST_HEADERS = 100

_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+$").match
_BROKEN = re.compile(r"\x00|(?<!\r)\n|\r(?!\n)").search
_DIGITS = re.compile(r"[0-9]{1,18}$").match


class BadRequest(Exception):
    """A request that cannot be answered as asked, with the status that says so."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status, self.message = status, message


class Head:
    """`length` is that of the body; CHUNKED when the body tells it. `headers` have lower-case names."""

    __slots__ = ("expects", "for_us", "headers", "keep_alive", "length", "method", "opened_by", "path", "query")

    def __init__(self, method: str, target: str, headers: dict[str, str], keep_alive: bool, length: int) -> None:
        path, _, self.query = target.partition("?")
        self.path = unquote(path) if "%" in path else path
        self.method, self.headers, self.keep_alive, self.length = method, headers, keep_alive, length
        self.expects = headers.get("expect", "").lower() == "100-continue"
        self.for_us: bool | None = None  # whether it is for a name that the service answers to, once that was asked
        self.opened_by: object | None = None  # the keys that its authorization was compared with, and fitted


def parse(raw: bytes) -> Head:
    """The head in the bytes before the empty line. BadRequest.

    >>> head = parse(b"POST /score?a=1 HTTP/1.1\\r\\nHost: me\\r\\nContent-Length: 2")
    >>> head.method, head.path, head.query, head.length, head.keep_alive
    ('POST', '/score', 'a=1', 2, True)
    """
    text = raw.decode("latin-1")
    if _BROKEN(text):
        raise BadRequest(400, "The head of the request holds a line that does not end as HTTP has it.")
    first, *lines = text.split("\r\n")
    parts = first.split(" ")
    if len(parts) != 3 or not _TOKEN(parts[0]) or not parts[2].startswith("HTTP/"):
        raise BadRequest(400, "The first line of the request is not one of HTTP/1.1.")
    method, target, version = parts
    if version not in ("HTTP/1.1", "HTTP/1.0"):
        raise BadRequest(505, f"{version[:20]} is not spoken here: use HTTP/1.1.")
    if not target.startswith("/"):
        target = _path_in(target)
    if len(lines) > MOST_HEADERS:
        raise BadRequest(431, f"The request has more than {MOST_HEADERS} headers.")
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon or not _TOKEN(name):
            raise BadRequest(400, "A header of the request is not of the form `name: value`.")
        name, value = name.lower(), value.strip(" \t")
        if name in headers:
            if name in ("content-length", "transfer-encoding", "host"):
                raise BadRequest(400, f"The request has more than one header {name}.")
            value = f"{headers[name]}, {value}"
        headers[name] = value
    if version == "HTTP/1.1" and "host" not in headers:
        raise BadRequest(400, "The request has no header host.")
    connection = headers.get("connection", "").lower()
    keep_alive = "close" not in connection if version == "HTTP/1.1" else "keep-alive" in connection
    return Head(method, target, headers, keep_alive, _length(headers, version))


def _length(headers: dict[str, str], version: str) -> int:
    length, encoding = headers.get("content-length"), headers.get("transfer-encoding")
    if encoding is not None:
        if length is not None or version != "HTTP/1.1":  # each could be believed by another server in between
            raise BadRequest(400, "The request gives the length of its body in two ways.")
        if encoding.lower() != "chunked":
            raise BadRequest(501, f"The transfer encoding {encoding[:40]!r} is not known here: use chunked.")
        return CHUNKED
    if length is None:
        return 0
    if not _DIGITS(length):
        raise BadRequest(400, "The header content-length is not a number.")
    return int(length)


def _path_in(target: str) -> str:
    """The path of a whole address, as clients of proxies send it."""
    if target == "*":
        return "/"
    _, colon, rest = target.partition("://")
    if not colon:
        raise BadRequest(400, "The first line of the request names no path.")
    return "/" + rest.partition("/")[2]
