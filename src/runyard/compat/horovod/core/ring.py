"""A ring of TCP lines between the ranks, over which arrays of bytes are passed: each rank sends to the next, and
receives from the one before. What all ranks need of each other goes round in as many steps as there are ranks."""

from __future__ import annotations

import selectors
import socket
import threading
from typing import Any, Callable, Sequence

from . import wire
from .negotiator import Negotiator

_PIECE = 1 << 20


class Ring:
    """All ranks make it together. One that is not among those of the ring has no lines, and cannot use it."""

    def __init__(self, negotiator: Negotiator, name: str, ranks: Sequence[int] = ()) -> None:
        place = negotiator.place
        among = list(ranks or range(place.size))
        self._lines: list[socket.socket] = []
        if place.rank not in among:
            negotiator.share(f"{name} ring", None)
            return
        self.rank, self.size = among.index(place.rank), len(among)
        family = socket.AF_INET6 if ":" in place.host else socket.AF_INET
        own = _own_address(place.host, place.port, family)
        with socket.socket(family, socket.SOCK_STREAM) as listener:
            listener.bind((own, 0))
            listener.listen(4)
            addresses = negotiator.share(f"{name} ring", [own, listener.getsockname()[1]])
            after = among[(self.rank + 1) % self.size]
            self._before: socket.socket
            met = threading.Thread(target=self._accept, args=(listener, place.secret, (self.rank - 1) % self.size))
            met.start()
            self._after = wire.connect(str(addresses[after][0]), int(addresses[after][1]), 60.0)
            wire.introduce(self._after, place.secret, self.rank, "ring")
            met.join()
        self._lines = [self._before, self._after]
        for line in self._lines:
            line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            line.setblocking(False)

    def _accept(self, listener: socket.socket, secret: str, expected: int) -> None:
        while True:
            line, _ = listener.accept()
            try:
                if wire.challenge(line, secret, "ring") == expected:
                    self._before = line
                    return
            except (wire.Refused, OSError):
                pass
            line.close()

    def close(self) -> None:
        for line in self._lines:
            line.close()

    def exchange(self, out: Any, into: Any) -> None:
        """Send to the next while receiving from the one before; both are arrays of bytes, of any length each."""
        sending, receiving = memoryview(out).cast("B"), memoryview(into).cast("B")
        with selectors.DefaultSelector() as selector:
            if len(sending):
                selector.register(self._after, selectors.EVENT_WRITE)
            if len(receiving):
                selector.register(self._before, selectors.EVENT_READ)
            while len(sending) or len(receiving):
                for key, _ in selector.select():
                    if key.fileobj is self._after:
                        sending = sending[self._after.send(sending[:_PIECE]) :]
                        if not len(sending):
                            selector.unregister(self._after)
                    else:
                        count = self._before.recv_into(receiving[:_PIECE])
                        if not count:
                            raise ConnectionError(f"rank {(self.rank - 1) % self.size} has closed its line")
                        receiving = receiving[count:]
                        if not len(receiving):
                            selector.unregister(self._before)

    def reduce(self, array: Any, combine: Callable[[Any, Any], None]) -> None:
        """Combine a flat array with those of all ranks, in place: `combine(mine, theirs)` writes into its first."""
        import numpy

        if not array.size:
            return
        ends = [array.size * part // self.size for part in range(self.size + 1)]
        parts = [array[ends[part] : ends[part + 1]] for part in range(self.size)]
        room = numpy.empty(max(len(part) for part in parts), dtype=array.dtype)
        for step in range(self.size - 1):
            mine, theirs = parts[(self.rank - step) % self.size], parts[(self.rank - step - 1) % self.size]
            self.exchange(_bytes(mine), _bytes(room[: len(theirs)]))
            combine(theirs, room[: len(theirs)])
        for step in range(self.size - 1):
            mine, theirs = parts[(self.rank + 1 - step) % self.size], parts[(self.rank - step) % self.size]
            self.exchange(_bytes(mine), _bytes(theirs))

    def gather(self, parts: list[Any]) -> None:
        """Fill in, in place, the parts of all other ranks; `parts[rank]` is this rank's own."""
        for step in range(self.size - 1):
            self.exchange(
                _bytes(parts[(self.rank - step) % self.size]), _bytes(parts[(self.rank - step - 1) % self.size])
            )

    def broadcast(self, array: Any, root: int) -> None:
        """Overwrite a flat array with that of one rank, piece by piece round the ring."""
        content, away = _bytes(array), (self.rank - root) % self.size
        step = 4 << 20
        nothing = content[:0]
        for start in range(0, len(content), step):
            piece = content[start : start + step]
            if away:
                self.exchange(nothing, piece)
            if away != self.size - 1:
                self.exchange(piece, nothing)


def _bytes(array: Any) -> Any:
    import numpy

    return array.view(numpy.uint8) if array.size else numpy.empty(0, numpy.uint8)


def _own_address(host: str, port: int, family: Any) -> str:
    """The address by which this machine is reached from where rank 0 is."""
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((host, port))
            return str(probe.getsockname()[0])
        except OSError:
            return host
