"""Asks a server over several connections, each as soon as it is answered; prints rate and times as JSON."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit


async def connection(host: str, port: int, request: bytes, end: float, times: list[float]) -> None:
    reader, writer = await asyncio.open_connection(host, port)
    while time.perf_counter() < end:
        began = time.perf_counter()
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 200"):
            raise SystemExit(f"failed: {head[:200]!r}")
        length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
        await reader.readexactly(int(length.split(b":")[1]))
        times.append(time.perf_counter() - began)
    writer.close()


async def main(address: str, path: str, connections: int, seconds: float) -> None:
    where, body = urlsplit(address), Path(path).read_bytes()
    head = f"POST {where.path} HTTP/1.1\r\nHost: {where.netloc}\r\nContent-Type: application/json\r\n"
    request = f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body
    times: list[float] = []
    began = time.perf_counter()
    end = began + seconds
    asked = [connection(where.hostname or "", where.port or 80, request, end, times) for _ in range(connections)]
    await asyncio.gather(*asked)
    spent = time.perf_counter() - began
    times.sort()
    told = {"rate": len(times) / spent, "p50": times[len(times) // 2], "p99": times[len(times) * 99 // 100]}
    print(json.dumps(told))


asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])))
