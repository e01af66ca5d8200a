"""Where the daemons of a cluster are started: all on this machine, or (`machines`) on machines that are apart."""

from __future__ import annotations

import socket
from abc import ABC, abstractmethod


class Ground(ABC):
    """The machines of a cluster. `address` is where its nodes reach what runs here."""

    address: str

    @abstractmethod
    def host_name(self, node: str) -> str:
        """What the machine of a node is called."""

    @abstractmethod
    def address_of(self, node: str) -> str:
        """Where the others reach the machine of a node."""

    @abstractmethod
    def command(self, node: str, words: list[str]) -> list[str]:
        """What to run here so that these words are run on a node. Its machine is started if it is off."""

    @abstractmethod
    def power_off(self, node: str) -> None:
        """End what can be ended of a node at one stroke."""

    @abstractmethod
    def close(self) -> None:
        """End all of it."""


class Loopback(Ground):
    """All nodes are this machine, and share its disk."""

    address = "127.0.0.1"

    def host_name(self, node: str) -> str:
        return socket.gethostname()

    def address_of(self, node: str) -> str:
        return self.address

    def command(self, node: str, words: list[str]) -> list[str]:
        return words

    def power_off(self, node: str) -> None:
        """There is nothing but the processes of the node, which its cluster knows."""

    def close(self) -> None:
        """This machine goes on."""
