"""The port of a service: picked once, and the same for as long as the service lives. One that is taken is refused."""

from __future__ import annotations

import errno
import random
import socket
from collections.abc import Mapping

import psutil

from runyard.store.errors import Conflict, Refused

FIRST, LAST = 20000, 32000
"""Ports that are picked: below those that systems give to outgoing connections, which would be taken at a restart."""

TRIES = 200


def pick(host: str, taken: Mapping[int, str]) -> int:
    """A port that no service has and that is free now."""
    for port in random.sample(range(FIRST, LAST), TRIES):
        if port not in taken and _why_not(host, port) is None:
            return port
    raise Conflict("port_taken", f"No free port was found on {host}.", "Give the service a `port`.")


def check(host: str, port: int, taken: Mapping[int, str]) -> int:
    """The port, if the service can have it. Conflict `port_taken` says who has it."""
    holder = f"the service {taken[port]!r}" if port in taken else None
    if holder is None:
        error = _why_not(host, port)
        if error is None:
            return port
        if error.errno == errno.EADDRNOTAVAIL:
            raise Refused(
                "invalid_service", f"{host} is no address of this machine.", "Use 127.0.0.1, or leave it out."
            )
        if error.errno in (errno.EACCES, errno.EPERM):
            raise Refused("invalid_service", f"Port {port} is for root alone.", "Use one from 1024 on.")
        holder = _holder(port) or f"another process ({error.strerror})"
    raise _taken(port, holder)


def must_be_free(port: int, taken: Mapping[int, str]) -> None:
    """Conflict `port_taken` when a service has it."""
    if port in taken:
        raise _taken(port, f"the service {taken[port]!r}")


def _taken(port: int, holder: str) -> Conflict:
    return Conflict(
        "port_taken",
        f"Port {port} is taken by {holder}.",
        "Use another one, or none: then a free one is picked.",
        {"port": port},
    )


def _why_not(host: str, port: int) -> OSError | None:
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            return error
    return None


def _holder(port: int) -> str | None:
    """The process that listens on a port, as far as this user may see it."""
    try:
        for each in psutil.net_connections("tcp"):
            if each.laddr and each.laddr.port == port and each.status == psutil.CONN_LISTEN and each.pid:
                return f"process {each.pid} ({psutil.Process(each.pid).name()})"
    except psutil.Error:
        return None
    return None
