"""The connections of the server: how many there may be, how long the head of a request may take, and who has to go.

A connection is a stranger's until a request on it has shown a token or the key of a page. Strangers cost a descriptor
each, and whoever wants to lock others out opens many and sends nothing. So no more are accepted than there are free
descriptors, and room is made by ending strangers: the oldest one of the address that has the most. Somebody who comes
with a token is the newest of all, and has shown it long before it would be their turn.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import resource
import socket
import time
from collections.abc import Callable, MutableMapping
from typing import Any, Protocol

from runyard.store.content.growing_files import most_open

log = logging.getLogger("runyard.server")

HEAD_SECONDS = 20.0
"""How long the head of a request may take, from its first byte, or from the start of a connection."""

QUIET_SECONDS = 60.0
"""How long a connection stays open with nothing on it."""

HEAD_BYTES = 64 << 10
"""How long the head of a request may be."""

DISCARDED = 1 << 20
"""How much of a body is still taken after the answer, and thrown away: its sender should come to read the answer."""

STRANGERS = 64
"""How many connections of one address may be without a token: a browser opens six."""

MOST_DESCRIPTORS = 1 << 17
"""More are not asked for: some systems count what is allowed, not what is used."""

_STATE = "runyard.connection"
_NO_DESCRIPTOR = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


def trust(scope: MutableMapping[str, Any]) -> None:
    """The request of this scope has shown that its sender may be here."""
    connection = scope.get("state", {}).get(_STATE)
    if connection is not None and not connection.trusted:
        connection.trust()


def is_stranger(scope: MutableMapping[str, Any]) -> bool:
    connection = scope.get("state", {}).get(_STATE)
    return connection is not None and not connection.trusted


def on_lost(scope: MutableMapping[str, Any], callback: Callable[[], None] | None) -> None:
    """Have a function called when the connection of this request is lost before its response has ended; None: no
    more."""
    connection = scope.get("state", {}).get(_STATE)
    if connection is not None:
        connection.on_lost = callback


def of(scope: MutableMapping[str, Any]) -> Watched | None:
    """The connection of a request; None where others than this server have made it."""
    found: Watched | None = scope.get("state", {}).get(_STATE)
    return found


def has_room(scope: MutableMapping[str, Any]) -> bool:
    """Whether the connection of this request may stay open with nothing on it: others may need its descriptor."""
    connection = scope.get("state", {}).get(_STATE)
    return connection is None or connection.watch.has_room


def raise_limit() -> None:
    """Let this process have as many descriptors as the system allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = min(hard, MOST_DESCRIPTORS) if hard != resource.RLIM_INFINITY else MOST_DESCRIPTORS
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with contextlib.suppress(OSError, ValueError):  # macOS has a lower limit than it reports
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def most_connections() -> int:
    """As many as the descriptors allow that the database, uploads and runs leave free."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if limit == resource.RLIM_INFINITY:
        return 1 << 16
    return max(16, limit - min(limit // 2, 128 + most_open()))


class Connections:
    """Every open connection, the oldest first. For the event loop's thread alone."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._all: dict[Watched, None] = {}
        self._strangers: dict[str, dict[Watched, None]] = {}
        self._one_less = asyncio.Event()
        self._told = False

    def __len__(self) -> int:
        return len(self._all)

    @property
    def has_room(self) -> bool:
        return len(self._all) * 4 < self._most * 3

    def add(self, connection: Watched) -> None:
        self._all[connection] = None
        here = self._strangers.setdefault(connection.peer, {})
        here[connection] = None
        if len(here) > STRANGERS:
            next(iter(here)).drop()

    def trust(self, connection: Watched) -> None:
        """It is no stranger any more."""
        here = self._strangers.get(connection.peer, {})
        here.pop(connection, None)
        if not here:
            self._strangers.pop(connection.peer, None)

    def remove(self, connection: Watched) -> None:
        if self._all.pop(connection, 0) is None:
            self.trust(connection)
            self._one_less.set()

    def sweep(self) -> None:
        """End what has begun a request and does not come to an end with its head, and what asks nothing more."""
        now = time.monotonic()
        latest, quiet = now - HEAD_SECONDS, now - QUIET_SECONDS
        for each in [each for each in self._all if each.waits_since is not None and each.waits_since < latest]:
            each.drop()
        for each in [each for each in self._all if each.quiet_since is not None and each.quiet_since < quiet]:
            each.drop()

    async def make_room(self) -> None:
        """Return when there are not too many: at once, or when somebody has gone."""
        while len(self._all) > self._most:
            self._one_less.clear()
            first = self._first_to_go()
            if first is not None:
                first.drop()
                continue
            if not self._told:
                self._told = True
                log.warning(
                    "%d connections are in use, as many as the limit of open files allows (ulimit -n): others wait",
                    len(self._all),
                )
            with contextlib.suppress(asyncio.TimeoutError):  # somebody may have come to the end of their request
                await asyncio.wait_for(self._one_less.wait(), 1.0)

    def _first_to_go(self) -> Watched | None:
        """Strangers, the oldest of the address with the most; then who has asked nothing for the longest time. Never
        the newest of all, who has just come in."""
        newest = next(reversed(self._all))
        for strangers in sorted(self._strangers.values(), key=len, reverse=True):
            if (oldest := next(iter(strangers))) is not newest:
                return oldest
        return next((each for each in self._all if each.idle and each is not newest), None)


class Lane(Protocol):
    """A shorter way for requests that repeat the head of one that was in order (`runyard.server.express`)."""

    @property
    def busy(self) -> bool:
        """Whether a request on it has no whole answer yet."""

    def takes(self, data: bytes) -> bool:
        """Take what has come on the connection, which is between two requests, or on whose lane one is; False: it is
        for the usual way."""

    def lost(self) -> None:
        """The connection is lost."""


class Watched(asyncio.Protocol):
    """What is added to a protocol class of uvicorn's: see `watched`. Their common parts are named here."""

    transport: asyncio.Transport
    cycle: Any  # the latest request with its answer; None before the first
    client: tuple[str, int] | None
    app_state: dict[str, Any]

    connections: Any  # uvicorn's own set, which it empties at the end
    watch: Connections
    trusted = False
    on_lost: Callable[[], None] | None = None
    waits_since: float | None = None  # for the rest of a head; None: there is nothing to wait for
    head = b""  # of the last request, if it came in one piece
    lane: Lane | None = None
    quiet_since: float | None = None  # on the lane, where uvicorn's timers are not used
    _unset_keepalive_if_required: Callable[[], None]
    _last = False  # the server stops after the request that is on the lane
    _unasked = 0  # bytes since the last head was whole

    @property
    def peer(self) -> str:
        return self.client[0] if self.client is not None else ""

    @property
    def idle(self) -> bool:
        if self.lane is not None and self.lane.busy:
            return False
        return self.cycle is None or bool(self.cycle.response_complete)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self.app_state = {**self.app_state, _STATE: self}
        self.waits_since = time.monotonic()
        self.watch.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self.watch.remove(self)
        self.app_state = {}
        super().connection_lost(exc)
        if self.on_lost is not None:
            self.on_lost()
        lane, self.lane = self.lane, None
        if lane is not None:
            lane.lost()

    def data_received(self, data: bytes) -> None:
        lane = self.lane
        if lane is not None and (lane.busy or self._between()) and lane.takes(data):
            return
        self.quiet_since = None
        if not self.idle:
            super().data_received(data)
            return
        before = self.cycle
        if self.waits_since is None:
            self.waits_since = time.monotonic()
        super().data_received(data)
        if self.cycle is not before:
            self.head = b"" if self._unasked or lane is not None else data[: data.find(b"\r\n\r\n") + 4]
            self.waits_since, self._unasked = None, 0
            return
        self._unasked += len(data)
        if self._unasked > (HEAD_BYTES if before is None else DISCARDED):
            self.drop()

    def shutdown(self) -> None:
        """uvicorn's: end the connection once it is idle."""
        if self.lane is not None and self.lane.busy:
            self._last = True
        else:
            super().shutdown()  # type: ignore[misc]

    def asked(self) -> None:
        """A request has come on the lane."""
        self.quiet_since = None
        self._unset_keepalive_if_required()

    def answered(self) -> None:
        """A request on the lane is answered."""
        self.quiet_since = time.monotonic()
        if self._last:
            self.transport.close()

    def _between(self) -> bool:
        """Whether what comes next is the begin of a request: the last one was read to its end."""
        return self.waits_since is None and bool(self.cycle.response_complete) and not self.cycle.more_body

    def trust(self) -> None:
        self.trusted = True
        self.watch.trust(self)

    def drop(self) -> None:
        """End the connection, with no response. It counts as closed at once, so that nobody is dropped twice."""
        self.watch.remove(self)
        self.transport.abort()


def watched(protocol: type[asyncio.Protocol], connections: Connections) -> type[asyncio.Protocol]:
    """A protocol class of uvicorn's whose connections are watched: they differ with what is installed."""
    return type("Connection", (Watched, protocol), {"watch": connections})


async def accept(listener: socket.socket, create: Callable[[], asyncio.Protocol], connections: Connections) -> None:
    """Take connections from a socket, one after the other, and make room after each of them.

    The loops' own servers take whatever waits, until there is no descriptor left for anybody.
    """
    loop = asyncio.get_running_loop()
    listener.setblocking(False)
    while True:
        try:
            accepted, _ = await loop.sock_accept(listener)
        except OSError as error:
            if listener.fileno() < 0:  # the server stops
                return
            if error.errno in _NO_DESCRIPTOR:
                log.warning("a connection could not be taken: %s", error)
                await asyncio.sleep(0.5)
            continue
        try:
            accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            await loop.connect_accepted_socket(create, accepted)
        except OSError:  # whoever it was is gone again
            accepted.close()
        await connections.make_room()
