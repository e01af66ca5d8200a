"""What a web server says about a file: whether it is there, its size, and what tells a changed one from another."""

from __future__ import annotations

import http.client
import urllib.error
import urllib.request
from dataclasses import dataclass
from datetime import timezone
from email.message import Message
from email.utils import parsedate_to_datetime

TIMEOUT = 10.0
AGENT = "runyard"


class Unreachable(Exception):
    """An address does not give its file; the text is what the server answered."""


@dataclass(frozen=True)
class Seen:
    size: int | None
    etag: str | None
    modified: str | None


def look(url: str) -> Seen:
    """What HEAD tells about an address; where HEAD is refused, a GET of its first byte."""
    try:
        return _seen(_asked(url, "HEAD", {}))
    except urllib.error.HTTPError as error:
        error.close()
        if error.code not in (400, 403, 405, 501):
            raise Unreachable(f"{error.code} {error.reason}".strip()) from None
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise Unreachable(_words(error)) from None
    try:
        return _seen(_asked(url, "GET", {"Range": "bytes=0-0"}))
    except urllib.error.HTTPError as error:
        error.close()
        raise Unreachable(f"{error.code} {error.reason}".strip()) from None
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise Unreachable(_words(error)) from None


def _asked(url: str, method: str, headers: dict[str, str]) -> Message:
    request = urllib.request.Request(url, method=method, headers={"User-Agent": AGENT, **headers})
    with urllib.request.urlopen(request, timeout=TIMEOUT) as response:
        answer: Message = response.headers
        return answer


def _seen(headers: Message) -> Seen:
    total = headers.get("Content-Range", "").rpartition("/")[2] or headers.get("Content-Length", "")
    encoded = headers.get("Content-Encoding", "identity") not in ("", "identity")
    size = int(total) if total.isdigit() and not encoded else None
    return Seen(size, headers.get("ETag"), _moment(headers.get("Last-Modified")))


def _moment(text: str | None) -> str | None:
    try:
        at = parsedate_to_datetime(text) if text else None
    except (TypeError, ValueError):
        return None
    return None if at is None else at.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _words(error: Exception) -> str:
    reason = getattr(error, "reason", None) or error
    return str(reason) or type(reason).__name__
