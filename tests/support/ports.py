"""Ports that nobody listens on, for programs that must be told theirs. Ask for all that one program needs at once."""

from __future__ import annotations

import contextlib
import socket


def free_ports(count: int, host: str = "127.0.0.1") -> list[int]:
    """Different ones: they are held until all are found."""
    with contextlib.ExitStack() as stack:
        held = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in held:
            each.bind((host, 0))
        return [int(each.getsockname()[1]) for each in held]


def free_port() -> int:
    [port] = free_ports(1)
    return port
