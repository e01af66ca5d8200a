"""What a browser is told of the pages that may call a service from it (CORS)."""

from __future__ import annotations

from typing import Sequence

from runyard.serving.http.head import Head


def origin_headers(allowed: Sequence[str], head: Head) -> list[tuple[str, str]]:
    """The headers for the answer to a request, when pages of the origins `allowed` may call; `*` is every page.

    >>> origin_headers(["http://a", "http://b"], Head("GET", "/score", {"origin": "http://b"}, True, 0))
    [('access-control-allow-origin', 'http://b'), ('vary', 'Origin')]
    >>> origin_headers(["http://a"], Head("GET", "/score", {"origin": "http://c"}, True, 0))
    []
    """
    if not allowed:
        return []
    origin = head.headers.get("origin")
    if origin is None or "*" in allowed:
        shown = "*" if "*" in allowed else allowed[0]
    elif origin in allowed:
        shown = origin
    else:
        return []
    headers = [("access-control-allow-origin", shown)]
    if shown != "*":
        headers.append(("vary", "Origin"))
    if head.method == "OPTIONS":
        headers.append(("access-control-allow-methods", "GET, POST"))
        wanted = head.headers.get("access-control-request-headers")
        if wanted:
            headers.append(("access-control-allow-headers", wanted))
    return headers
