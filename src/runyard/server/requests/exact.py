"""Parameters of a query as they were sent. Names of files on a disk are bytes: what is no UTF-8 is kept, as Python
keeps it in paths, where the usual way would put a question mark in its place.
"""

from __future__ import annotations

from urllib.parse import parse_qsl

from starlette.requests import Request

_LOST = "\ufffd"


def exact(request: Request, name: str, value: str) -> str:
    """The parameter of that name, which is known as `value`."""
    if _LOST not in value:
        return value
    query = request.scope["query_string"].decode("latin-1")
    pairs = parse_qsl(query, keep_blank_values=True, errors="surrogateescape")
    return next((each for key, each in pairs if key == name), value)
