"""Waiting for sockets: takes connections, reads requests, and calls whoever is to answer them.

`turn` is one round of it. Any thread may make it, but only one at a time: the one that leads (`serving.calls`).
Nothing here knows what a request is about.
"""

from __future__ import annotations

import contextlib
import errno
import os
import select
import socket
import time
from typing import Callable, Protocol, cast

from runyard.serving.http.connection import Connection
from runyard.serving.http.head import BadRequest
from runyard.serving.http.message import Request

IDLE_SECONDS = 75.0
"""How long a connection may wait for its next request: longer than most proxies keep one."""

DRAIN_IDLE_SECONDS = 1.0
"""The same while the process drains: a client that is at work asks again within it, and is told to close."""

SWEEP_SECONDS = 0.5
TAKE_AT_ONCE = 16
FULL_SECONDS = 0.5  # how long no connection is taken when there are no file descriptors left

Arrived = Callable[[Connection, Request], None]


class Poller(Protocol):
    """What `select.epoll` has, and the rest of the world must have."""

    def register(self, descriptor: int, mask: int) -> None: ...
    def modify(self, descriptor: int, mask: int) -> None: ...
    def unregister(self, descriptor: int) -> None: ...
    def poll(self, seconds: float) -> list[tuple[int, int]]: ...
    def close(self) -> None: ...


IN, OUT, HUNG = select.POLLIN, select.POLLOUT, select.POLLHUP | select.POLLERR
_EXCLUSIVE = getattr(select, "EPOLLEXCLUSIVE", 0)


class PlainPoller:
    """`select.poll`, for systems that have no epoll."""

    def __init__(self) -> None:
        self._poll = select.poll()
        self.register, self.modify, self.unregister = self._poll.register, self._poll.modify, self._poll.unregister

    def poll(self, seconds: float) -> list[tuple[int, int]]:
        return self._poll.poll(seconds * 1000)

    def close(self) -> None:
        pass


def _poller() -> Poller:
    return cast(Poller, select.epoll() if hasattr(select, "epoll") else PlainPoller())


class Loop:
    def __init__(self, listening: socket.socket, arrived: Arrived, most_body: int) -> None:
        self.arrived = arrived
        self.refused: Callable[[BadRequest], None] = lambda wrong: None
        self.signalled: Callable[[int], None] = lambda number: None
        self.may_take: Callable[[], bool] = lambda: True
        self.most_body, self.idle_seconds = most_body, IDLE_SECONDS
        self.connections: dict[int, Connection] = {}
        self.draining = False
        self.now = time.monotonic()
        self._listening: socket.socket | None = listening
        self._poller = _poller()
        self._others: dict[int, Callable[[], None]] = {}
        self._swept = self._takes_again = self.now
        self._takes = False
        self._wake_read, self._wake_write = os.pipe()
        for descriptor in (self._wake_read, self._wake_write):
            os.set_blocking(descriptor, False)
        self._poller.register(self._wake_read, IN)

    @property
    def wake_descriptor(self) -> int:
        """Write a byte here to end a wait: 0, or the number of a signal (`signal.set_wakeup_fd`)."""
        return self._wake_write

    def wake(self) -> None:
        with contextlib.suppress(BlockingIOError):  # full: it is awake
            os.write(self._wake_write, b"\0")

    def add(self, descriptor: int, readable: Callable[[], None]) -> None:
        """Look at another file descriptor too."""
        self._others[descriptor] = readable
        self._poller.register(descriptor, IN)

    def remove(self, descriptor: int) -> None:
        if self._others.pop(descriptor, None) is not None:
            self._poller.unregister(descriptor)

    def take(self) -> None:
        """Begin, or go on, to take connections."""
        if self._listening is not None and not self._takes:
            self._takes = True
            self._poller.register(self._listening.fileno(), IN | _EXCLUSIVE)

    def put_off(self, seconds: float) -> None:
        """Take no connections for some time."""
        if self._listening is not None and self._takes:
            self._takes = False
            self._poller.unregister(self._listening.fileno())
            self._takes_again = self.now + seconds

    def turn(self, seconds: float) -> None:
        """Wait for at most so long, and see to everything that has come."""
        try:
            events = self._poller.poll(self._patience(seconds))
        except InterruptedError:
            events = []
        self.now = time.monotonic()
        connections = self.connections
        for descriptor, event in events:
            connection = connections.get(descriptor)
            if connection is not None:
                if event & OUT:
                    connection.writable()
                if event & IN:
                    connection.readable()
                elif event & HUNG:
                    connection.hung_up()
            elif descriptor == self._wake_read:
                self._woken()
            elif descriptor in self._others:
                self._others[descriptor]()
            else:
                self._accept()
        if self.now - self._swept >= SWEEP_SECONDS:
            self._sweep()
        if not self._takes and not self.draining and self.now >= self._takes_again:
            self.take()

    def _patience(self, seconds: float) -> float:
        if self.connections:
            seconds = min(seconds, SWEEP_SECONDS)
        if not self._takes and not self.draining:
            seconds = min(seconds, max(0.0, self._takes_again - self.now))
        return seconds

    def _woken(self) -> None:
        try:
            for number in os.read(self._wake_read, 4096):
                if number:
                    self.signalled(number)
        except BlockingIOError:
            pass

    def _accept(self) -> None:
        for _ in range(TAKE_AT_ONCE):
            if self._listening is None or not self._takes or not self.may_take():
                return
            try:
                taken, address = self._listening.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:
                if error.errno in (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM):
                    self.put_off(FULL_SECONDS)  # what waits stays in the kernel, or goes to another worker
                    return
                raise
            taken.setblocking(False)
            if taken.family != socket.AF_UNIX:
                taken.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            is_local = isinstance(address, str) or address[0] in ("127.0.0.1", "::1")
            connection = Connection(self, taken, is_local)
            self.connections[connection.descriptor] = connection
            self._poller.register(connection.descriptor, IN)

    def watch(self, descriptor: int, read: bool, write: bool) -> None:
        if descriptor in self.connections:
            self._poller.modify(descriptor, (IN if read else 0) | (OUT if write else 0))

    def forget(self, descriptor: int) -> None:
        """Look at it no more, but keep it."""
        with contextlib.suppress(OSError, KeyError):
            self._poller.unregister(descriptor)

    def closed(self, connection: Connection) -> None:
        if self.connections.pop(connection.descriptor, None) is not None:
            self.forget(connection.descriptor)

    def _sweep(self) -> None:
        self._swept = self.now
        for connection in list(self.connections.values()):
            if connection.deadline < self.now:
                connection.expired()

    def drain(self) -> None:
        """Take no more connections, and close each after its next answer, or when it is idle for a moment."""
        if self.draining:
            return
        if self._takes:
            self._accept()  # what waits already, in case that nobody else holds the socket
        self.put_off(0)
        self.draining = True
        if self._listening is not None:
            self._listening.close()
            self._listening = None
        self.idle_seconds = DRAIN_IDLE_SECONDS
        for connection in self.connections.values():
            if connection.idle:
                connection.deadline = min(connection.deadline, self.now + DRAIN_IDLE_SECONDS)

    def close(self) -> None:
        for connection in list(self.connections.values()):
            connection.close()
        if self._listening is not None:
            self._listening.close()
        self._poller.close()
        os.close(self._wake_read)
        os.close(self._wake_write)
