"""Ports for the processes of a run: found free, and reserved against other runs on this machine while the run lives."""

from __future__ import annotations

import socket
import sys

from runyard.node.problem import RunProblem

FIRST, LAST = 20000, 32767  # below those that the kernel hands out to connections that go out
TRIES = 2000


class Ports:
    """Free ports of one address. Nobody listens on them, and no other run on this machine is given them before
    `close`; that another program takes one meanwhile cannot be ruled out."""

    def __init__(self, address: str, count: int) -> None:
        self.numbers: list[int] = []
        self._marks: list[socket.socket] = []
        import random  # here: it draws new numbers in every process that is forked, and few need one

        for _ in range(TRIES):
            if len(self.numbers) == count:
                return
            self._try(address, random.randint(FIRST, LAST))
        self.close()
        raise RunProblem("NoFreePort", f"No {count} free ports were found between {FIRST} and {LAST} on {address}.")

    def close(self) -> None:
        for mark in self._marks:
            mark.close()

    def _try(self, address: str, number: int) -> None:
        if number in self.numbers:
            return
        mark = _mark(number)
        if mark is None:
            return
        if _free(address, number):
            self.numbers.append(number)
            self._marks.append(mark)
        else:
            mark.close()


def _mark(number: int) -> socket.socket | None:
    """What reserves a port: a socket name in the same network namespace, which ends with this process."""
    mark = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    if sys.platform == "linux":
        try:
            mark.bind(f"\0runyard-port-{number}")
        except OSError:
            mark.close()
            return None
    return mark


def _free(address: str, number: int) -> bool:
    """Whether one can listen there, and on all addresses of the machine: scripts do either."""
    everywhere = "::" if ":" in address else "0.0.0.0"
    for each in (address, everywhere):
        with socket.socket(socket.AF_INET6 if ":" in each else socket.AF_INET, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((each, number))
            except OSError:
                return False
    return True
