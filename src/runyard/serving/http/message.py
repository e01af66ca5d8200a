"""A request as the application sees it, and the response that it makes, with the bytes of that."""

from __future__ import annotations

import json
import re
import time
from email.utils import formatdate
from http import HTTPStatus
from typing import Union

from runyard.serving.http.head import Head

Body = Union[bytes, bytearray]

_LINES = {int(status): f"HTTP/1.1 {int(status)} {status.phrase}\r\n" for status in HTTPStatus}
_UNSAFE = re.compile(r"[\r\n\x00]").search


class Request:
    """`began` and `at`: when it was whole, by `time.perf_counter` and `time.time`."""

    __slots__ = ("at", "began", "body", "head", "request_id")

    def __init__(self, head: Head, body: Body) -> None:
        self.head, self.body = head, body
        self.began, self.at = time.perf_counter(), time.time()
        self.request_id = ""

    @property
    def method(self) -> str:
        return self.head.method

    @property
    def path(self) -> str:
        return self.head.path

    @property
    def headers(self) -> dict[str, str]:
        return self.head.headers


class Response:
    """`failed`: whether the user's code did; None where it was not asked."""

    __slots__ = ("body", "content_type", "failed", "headers", "seconds", "status")

    def __init__(
        self,
        body: Body = b"",
        status: int = 200,
        content_type: str = "application/json",
        headers: list[tuple[str, str]] | None = None,
        failed: bool | None = None,
    ) -> None:
        self.body, self.status, self.content_type, self.failed = body, status, content_type, failed
        self.headers: list[tuple[str, str]] = [] if headers is None else headers
        self.seconds: float | None = None  # how long the user's code took

    def encoded(self, keep_alive: bool, bodiless: bool = False) -> tuple[bytes, Body]:
        """Head and body for the wire."""
        parts = [_LINES.get(self.status) or f"HTTP/1.1 {self.status} \r\n"]
        if self.content_type:
            parts.append(f"content-type: {self.content_type}\r\n")
        if self.status >= 200 and self.status != 204:
            parts.append(f"content-length: {len(self.body)}\r\n")
        parts += [f"{name}: {value}\r\n" for name, value in self.headers]
        parts.append(_date(int(time.time())))
        parts.append("\r\n" if keep_alive else "connection: close\r\n\r\n")
        return "".join(parts).encode("latin-1", "replace"), b"" if bodiless or self.status in (204, 304) else self.body


def is_header(name: str, value: str) -> bool:
    """Whether a header from the user's code can be sent without being read as something else."""
    return bool(name) and not _UNSAFE(name) and not _UNSAFE(value) and ":" not in name and " " not in name


def json_response(document: object, status: int = 200, failed: bool | None = None) -> Response:
    return Response(json.dumps(document).encode(), status, failed=failed)


def message(status: int, text: str, failed: bool | None = None) -> Response:
    """The form of every error: `{"message": ...}`."""
    return json_response({"message": text}, status, failed)


_dated: tuple[int, str] = (0, "")


def _date(now: int) -> str:
    global _dated
    if _dated[0] != now:
        _dated = now, f"date: {formatdate(now, usegmt=True)}\r\n"
    return _dated[1]
