"""What the gateway says itself: refusals, and what is answered for a service that has no replica."""

from __future__ import annotations

import asyncio
import json
import sys
from http import HTTPStatus

from runyard.serving.http.head import Head

HEALTH, READY, METRICS = "/", "/ready", "/metrics"
NOT_ALLOWED = "A valid key or token is needed: send the header `Authorization: Bearer <key or token>`."

_JSON, _HTML, _NUMBERS = "application/json", "text/html; charset=utf-8", "text/plain; version=0.0.4; charset=utf-8"


def asleep(asked: Head) -> tuple[bytes, str]:
    """The answer to who only watches, and its type. While there is no replica the service is ready all the same: a
    request waits for one."""
    if asked.method == "OPTIONS":
        return b"", _HTML
    if asked.path == HEALTH:
        return b"Healthy", _HTML
    if asked.path == METRICS:
        return b"", _NUMBERS
    return json.dumps({asked.path.rpartition("/")[2]: True}).encode(), _JSON


async def send(
    writer: asyncio.StreamWriter,
    status: int,
    body: bytes,
    kind: str,
    *headers: tuple[str, str],
    bodiless: bool = False,
) -> None:
    lines = [
        f"HTTP/1.1 {status} {HTTPStatus(status).phrase}",
        f"Content-Type: {kind}",
        f"Content-Length: {len(body)}",
        *(f"{name}: {value}" for name, value in headers),
    ]
    writer.write("\r\n".join([*lines, "", ""]).encode("latin-1") + (b"" if bodiless else body))
    await writer.drain()


async def send_message(writer: asyncio.StreamWriter, status: int, text: str, *headers: tuple[str, str]) -> None:
    """An error, in the form that the workers' errors have."""
    await send(writer, status, json.dumps({"message": text}).encode(), _JSON, *headers)


async def refuse(writer: asyncio.StreamWriter, status: int, text: str, retry: bool = False) -> None:
    """An error after which the connection is closed; the log has it too."""
    print(f"{status}: {text}", file=sys.stderr, flush=True)
    again = [("Retry-After", "1")] if retry else []
    await send_message(writer, status, text, *again, ("Connection", "close"))
