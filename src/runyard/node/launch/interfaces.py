"""The network interfaces of this machine, by the address that they have."""

from __future__ import annotations

import socket
import struct
import sys
from typing import Iterator

_SIOCGIFADDR = 0x8915


def of_address(address: str) -> str | None:
    """The interface with this IPv4 address; None when there is none, or when it cannot be found out (not on Linux)."""
    if sys.platform != "linux":
        return None
    return next((name for name, found in _addresses() if found == address), None)


def loopback() -> str:
    """The name of the loopback interface."""
    return "lo" if sys.platform == "linux" else "lo0"


def beyond_loopback() -> bool:
    """Whether this machine has an address that is not loopback's, or may have one (not on Linux)."""
    return sys.platform != "linux" or any(not address.startswith("127.") for _, address in _addresses())


def _addresses() -> Iterator[tuple[str, str]]:
    """Interfaces, and the IPv4 address of each that has one (Linux)."""
    import fcntl

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        for _, name in socket.if_nameindex():
            try:
                address = fcntl.ioctl(probe, _SIOCGIFADDR, struct.pack("256s", name.encode()[:15]))
            except OSError:
                continue  # it has none
            yield name, socket.inet_ntoa(address[20:24])
