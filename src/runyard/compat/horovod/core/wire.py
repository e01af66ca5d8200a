"""How the ranks talk to rank 0 about what is to be done: JSON documents with their length before them, over TCP.

Whoever connects shows that it knows the run's secret before anything it sends is read.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import socket
import struct
import time
from typing import Any, Dict

Document = Dict[str, Any]

MOST = 64 << 20
_LENGTH = struct.Struct("!I")
_NONCE = 16


class Refused(Exception):
    """The other side is none of this job's ranks."""


def send(line: socket.socket, document: Document) -> None:
    text = json.dumps(document, separators=(",", ":")).encode()
    line.sendall(_LENGTH.pack(len(text)) + text)


class Reader:
    """Takes documents out of what has come over a line; `feed` has them once they are whole."""

    def __init__(self) -> None:
        self._pending = bytearray()

    def feed(self, piece: bytes) -> list[Document]:
        pending, found = self._pending, []
        pending += piece
        while len(pending) >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(pending)
            if length > MOST:
                raise Refused(f"a document of {length} bytes")
            if len(pending) < _LENGTH.size + length:
                break
            found.append(json.loads(bytes(pending[_LENGTH.size : _LENGTH.size + length])))
            del pending[: _LENGTH.size + length]
        return found


def connect(host: str, port: int, within: float) -> socket.socket:
    """A line to a place that may not listen yet. OSError when nobody does in time."""
    deadline, pause = time.monotonic() + within, 0.01
    while True:
        try:
            line = socket.create_connection((host, port), timeout=max(min(within, 10.0), 0.1))
            line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            line.settimeout(None)
            return line
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(pause)
            pause = min(pause * 1.5, 0.25)


def challenge(line: socket.socket, secret: str, purpose: str) -> int:
    """On the side that listens: which rank is there. Refused when it does not know the secret."""
    line.settimeout(10.0)
    nonce = os.urandom(_NONCE)
    line.sendall(nonce)
    rank, digest = struct.unpack("!I32s", _exactly(line, 36))
    if not hmac.compare_digest(digest, _digest(secret, nonce, rank, purpose)):
        raise Refused("it does not know the secret of this job")
    line.sendall(b"\x01")
    line.settimeout(None)
    return int(rank)


def introduce(line: socket.socket, secret: str, rank: int, purpose: str) -> None:
    """On the side that connects. Refused when the other side does not want it, or is about to end."""
    line.settimeout(10.0)
    nonce = _exactly(line, _NONCE)
    line.sendall(struct.pack("!I32s", rank, _digest(secret, nonce, rank, purpose)))
    _exactly(line, 1)
    line.settimeout(None)


def _digest(secret: str, nonce: bytes, rank: int, purpose: str) -> bytes:
    return hmac.new(secret.encode(), nonce + f"{rank}/{purpose}".encode(), hashlib.sha256).digest()


def _exactly(line: socket.socket, count: int) -> bytes:
    found = b""
    while len(found) < count:
        piece = line.recv(count - len(found))
        if not piece:
            raise Refused("it has closed the line")
        found += piece
    return found
