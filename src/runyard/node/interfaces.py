"""The network interfaces of this machine, by the address that they have."""

from __future__ import annotations

import socket
import struct
import sys

_SIOCGIFADDR = 0x8915


def of_address(address: str) -> str | None:
    """The interface with this IPv4 address; None when there is none, or when it cannot be told (not on Linux)."""
    if sys.platform != "linux":
        return None
    import fcntl

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        for _, name in socket.if_nameindex():
            try:
                answer = fcntl.ioctl(asked, _SIOCGIFADDR, struct.pack("256s", name.encode()[:15]))
            except OSError:
                continue  # it has no such address
            if socket.inet_ntoa(answer[20:24]) == address:
                return name
    return None
