"""The socket that the server listens on: which port, and the message when it is not available."""

from __future__ import annotations

import errno
import socket

from runyard.contracts.home import DEFAULT_PORT

_PROBES = (("TCP_KEEPIDLE", 30), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 3))
"""The system asks whether the other side is still there after 30 s of silence, and has given it up after 60 s: that is
how a node that is gone is noticed while its next heartbeat is far away. Connections inherit it from the listener."""


class CannotListen(Exception):
    """The text has the address, the reason, and what to do."""


def listen(host: str, port: int | None, last: int | None) -> socket.socket:
    """A socket that accepts connections from now on.

    A port that was asked for is binding. Otherwise the one of the last time is taken, so that addresses stay valid;
    else the usual one, else any.
    """
    if port is not None:
        return _bind(host, port)
    for wish in dict.fromkeys(wish for wish in (last, DEFAULT_PORT) if wish):
        try:
            return _bind(host, wish)
        except CannotListen as error:
            if not isinstance(error.__cause__, OSError) or error.__cause__.errno != errno.EADDRINUSE:
                raise
    return _bind(host, 0)


def address(host: str, port: int) -> str:
    """The URL by which processes reach a socket on `host`: those of this machine, and the nodes of its clusters."""
    nearest = _own_address(host) if host in ("0.0.0.0", "::") else host
    return f"http://[{nearest}]:{port}" if ":" in nearest else f"http://{nearest}:{port}"


def _own_address(host: str) -> str:
    """The address that this machine speaks to others from; that of loopback where there is no network."""
    family, elsewhere, loopback = (
        (socket.AF_INET6, "2001:db8::1", "::1") if host == "::" else (socket.AF_INET, "192.0.2.1", "127.0.0.1")
    )
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((elsewhere, 9))  # sends nothing: only the way is looked up
            return str(probe.getsockname()[0])
    except OSError:
        return loopback


def _bind(host: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, where = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except socket.gaierror as error:
        raise CannotListen(
            f"{host!r} is not an address of this machine ({error.strerror}). Choose another --host."
        ) from error
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in _PROBES:
            if hasattr(socket, name):
                listener.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
        listener.bind(where)
        listener.listen(1024)
    except OSError as error:
        listener.close()
        raise CannotListen(_why(host, port, error)) from error
    return listener


def _why(host: str, port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"Port {port} on {host} is in use{_holder(port)}. Choose another with --port, or end what holds it."
    if error.errno == errno.EACCES:
        return f"This user may not listen on port {port}. Choose one above 1023 with --port."
    if error.errno == errno.EADDRNOTAVAIL:
        return f"{host} is not an address of this machine. Choose another --host."
    return f"Cannot listen on {host} port {port}: {error.strerror}."


def _holder(port: int) -> str:
    """Who listens on a port, as far as this user may know."""
    import psutil

    try:
        for connection in psutil.net_connections("tcp"):
            if connection.status == psutil.CONN_LISTEN and connection.laddr[1:] == (port,) and connection.pid:
                return f" by {psutil.Process(connection.pid).name()} (process {connection.pid})"
    except psutil.Error:
        return ""
    return ""
