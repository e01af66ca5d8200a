"""Commands that the leader has started on other nodes: what mpirun needs there."""

from __future__ import annotations

import itertools
import threading
from typing import Any, Callable, Mapping


class Spawned:
    """A command that runs on another node."""

    def __init__(self, node: int, stop: Callable[[], None]) -> None:
        self.node = node
        self._stop = stop
        self._over = threading.Event()
        self._code: int | None = None

    def wait(self, timeout: float) -> int | None:
        """Its exit code; None when it has not ended in time."""
        self._over.wait(timeout)
        return self._code

    def stop(self) -> None:
        """End it, and all that it has started."""
        if self._code is None:
            self._stop()

    def ended(self, code: int) -> None:
        self._code = code
        self._over.set()


class SpawnedCommands:
    """All of them, by a number that both sides use. Any thread may start one. `send` takes a node, and a message as
    `Link.send` does."""

    def __init__(self, send: Callable[..., Any]) -> None:
        self._send = send
        self._numbers = itertools.count(1)
        self._commands: dict[int, Spawned] = {}

    def start(self, node: int, argv: list[str], variables: Mapping[str, str]) -> Spawned:
        number = next(self._numbers)
        spawned = self._commands[number] = Spawned(node, lambda: self._send(node, "unspawn", number=number))
        self._send(node, "spawn", number=number, argv=argv, variables=dict(variables))
        return spawned

    def ended(self, number: int, code: int) -> None:
        if number in self._commands:
            self._commands[number].ended(code)

    def lost(self, node: int) -> None:
        """The node is lost: what was started there counts as failed."""
        for spawned in list(self._commands.values()):
            if spawned.node == node and spawned.wait(0.0) is None:
                spawned.ended(1)
