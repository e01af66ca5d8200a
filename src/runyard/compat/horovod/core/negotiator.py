"""The side of each rank: hands requests in, hears in which order they are done, and has the transport do them.

One thread per process hears the coordinator and moves the data, so that every rank does the same in the same order
while the script goes on. Alone in its job, a process does everything at once and needs no thread.
"""

from __future__ import annotations

import contextlib
import errno
import socket
import threading
import time
from typing import Any, Callable, NamedTuple, Protocol, Sequence

from ..common.exceptions import HorovodInternalError
from . import wire
from .coordinator import Coordinator
from .places import Place, number
from .requests import ALLGATHER, BARRIER, SHARE, Request, disagreement

START_WITHIN = 600.0  # seconds for all ranks to call init: some are still importing their framework
WORTH_A_HASH = 8  # members of a request from which on its hash is sent in its place
REPORT_AFTER = 1.0  # seconds of waiting after which the coordinator is told


class Ticket:
    """One request under way. `payload` is the framework's: what goes in; `output` is what has come out."""

    def __init__(self, request: Request, payload: Any) -> None:
        self.request, self.payload = request, payload
        self.output: Any = None
        self.error: str | None = None
        self._done = threading.Event()

    @property
    def done(self) -> bool:
        return self._done.is_set()

    def finish(self, output: Any = None, error: str | None = None) -> None:
        self.output, self.error = output, error
        self._done.set()

    def wait(self, timeout: float | None = None) -> bool:
        return self._done.wait(timeout)


class Job(NamedTuple):
    """What the coordinator has said is next: these requests, in one go. A rank that has joined has no tickets."""

    requests: list[Request]
    tickets: list[Ticket]
    of_ranks: list[Any]  # what each rank must know of all: rows gathered, splits


class Transport(Protocol):
    """Moves tensors of one framework between the ranks."""

    def perform(self, job: Job) -> list[Any]:
        """Do it, and return what each request has for output."""

    def add(self, ranks: tuple[int, ...]) -> None:
        """Be ready for requests of some ranks only. All ranks come here together, and may `share`."""

    def close(self) -> None: ...


class Negotiator:
    def __init__(self, place: Place, generation: int = 0) -> None:
        self.place = place
        self._tickets: dict[str, Ticket] = {}
        self._told: set[str] = set()  # hashes that the coordinator knows
        self._lock, self._sending = threading.Lock(), threading.Lock()
        self._joining: Ticket | None = None
        self._fatal: str | None = None
        self._closed = False
        self._transports: dict[str, Transport] = {}
        self._sets: list[tuple[int, ...]] = []
        self._coordinator: Coordinator | None = None
        self._line: socket.socket | None = None
        if place.size > 1:
            self._line = self._meet(f"horovod/{generation}")
            self._reader = wire.Reader()
            self._thread = threading.Thread(target=self._conduct, name="horovod", daemon=True)
            self._thread.start()

    def use(self, framework: str, make: Callable[[Negotiator], Transport]) -> None:
        """Have the tensors of a framework moved by a transport, which may `share` while it is made. The device of a
        request begins with the framework."""
        if framework not in self._transports:
            self._transports[framework] = make(self)
            for ranks in self._sets:
                self._transports[framework].add(ranks)

    def add_ranks(self, ranks: tuple[int, ...]) -> None:
        """Some ranks will work among themselves; every rank says so, in the same order."""
        if ranks not in self._sets:
            self._sets.append(ranks)
            for transport in self._transports.values():
                transport.add(ranks)

    def uses(self, framework: str) -> bool:
        return framework in self._transports

    def close(self) -> None:
        """Say goodbye. What the other ranks still wait for fails there."""
        if self._line is not None and not self._closed:
            self._closed = True
            with contextlib.suppress(OSError):
                self._send({"k": "bye"})
            if self._coordinator is not None:
                self._coordinator.wait(2.0)
            with contextlib.suppress(OSError):
                self._line.shutdown(socket.SHUT_RDWR)
            self._thread.join(5.0)
            self._line.close()
        for transport in self._transports.values():
            transport.close()
        self._transports = {}

    # -- asking -------------------------------------------------------------------------------------------------------

    def submit(self, requests: Sequence[Request], payloads: Sequence[Any]) -> list[Ticket]:
        """Hand in; what comes back can be waited for."""
        tickets = [Ticket(request, payload) for request, payload in zip(requests, payloads)]
        if self._line is None:
            for ticket in tickets:
                self._alone(ticket)
            return tickets
        asked: list[list[Any]] = []
        with self._lock:
            if self._fatal is not None:
                raise HorovodInternalError(self._fatal)
            for ticket in tickets:
                name = ticket.request.name
                if name in self._tickets:
                    raise HorovodInternalError(
                        f"The tensor {name!r} is still under way: synchronize its handle before it is handed in again, "
                        "or give it another name."
                    )
                self._tickets[name] = ticket
                asked.append(self._document(ticket.request))
        try:
            self._send({"k": "ask", "r": asked})
        except OSError:
            self._thread.join(2.0)  # which hears why
            raise HorovodInternalError(self._fatal or "The line to rank 0 is broken.") from None
        return tickets

    def wait(self, ticket: Ticket) -> Any:
        """The output, once it is there; HorovodInternalError when the ranks disagree or one is gone."""
        while not ticket.wait(REPORT_AFTER):
            if self._line is not None:
                with contextlib.suppress(OSError):
                    self._send({"k": "blocked", "n": [ticket.request.name]})
        if ticket.error is not None:
            raise HorovodInternalError(ticket.error)
        return ticket.output

    def share(self, name: str, value: Any, ranks: tuple[int, ...] = ()) -> list[Any]:
        """What every rank gives under this name, by rank: small things, as JSON."""
        if self._line is None:
            return [value]
        request = Request(f"share.{name}", SHARE, value=value, ranks=ranks)
        found: list[Any] = self.wait(self.submit([request], [None])[0])
        return found

    def barrier(self, name: str, ranks: tuple[int, ...] = ()) -> None:
        self.wait(self.submit([Request(name, BARRIER, ranks=ranks)], [None])[0])

    def join(self) -> int:
        """Take part with zeros in what the others reduce, until all have joined; the last to join comes back."""
        if self._line is None:
            return 0
        with self._lock:
            if self._fatal is not None:
                raise HorovodInternalError(self._fatal)
            ticket = self._joining = Ticket(Request("join", BARRIER), None)
        self._send({"k": "join"})
        ticket.wait()
        if ticket.error is not None:
            raise HorovodInternalError(ticket.error)
        return int(ticket.output)

    # -- the thread ---------------------------------------------------------------------------------------------------

    def _conduct(self) -> None:
        try:
            while True:
                for document in self._hear():
                    self._obey(document)
        except (OSError, wire.Refused) as error:
            if not self._closed:
                self._fail_all(f"The line to rank 0 is broken, which has ended or cannot be reached: {error}")

    def _obey(self, document: wire.Document) -> None:
        kind = document["k"]
        if kind == "go":
            for job in document["j"]:
                self._perform(job)
        elif kind == "error":
            ticket = self._take(document["n"])
            if ticket is not None:
                ticket.finish(error=document["m"])
        elif kind == "fatal":
            self._fail_all(document["m"])
        elif kind == "joined" and self._joining is not None:
            joining, self._joining = self._joining, None
            joining.finish(document["last"])

    def _perform(self, document: wire.Document) -> None:
        tickets = [ticket for ticket in map(self._take, document["n"]) if ticket is not None]
        requests = [ticket.request for ticket in tickets]
        if not tickets and "m" in document:  # joined: zeros stand in for what this rank would have brought
            requests = [Request.from_list(name, each) for name, each in zip(document["n"], document["m"])]
        if not requests or (not tickets and requests[0].ranks and self.place.rank not in requests[0].ranks):
            return
        job = Job(requests, tickets, document.get("x", []))
        try:
            if requests[0].kind == BARRIER:
                outputs: list[Any] = [None] * len(requests)
            elif requests[0].kind == SHARE:
                outputs = [job.of_ranks]
            else:
                outputs = self._transport(requests[0]).perform(job)
            for ticket, output in zip(tickets, outputs):
                ticket.finish(output)
        except Exception as error:  # noqa: BLE001 - whatever it is, it belongs to those who wait, on every rank
            why = self._reason(error)
            with contextlib.suppress(OSError):
                self._send({"k": "fail", "m": f"{requests[0].name!r} failed on rank {self.place.rank}: {why}"})
            for ticket in tickets:
                ticket.finish(error=f"{ticket.request.name!r} failed on rank {self.place.rank}: {why}")

    def _reason(self, error: Exception) -> str:
        """Why moving data failed: that a rank is gone, where the coordinator says so within a moment."""
        assert self._line is not None
        deadline = time.monotonic() + 3.0
        self._line.settimeout(0.5)
        while self._fatal is None and time.monotonic() < deadline:
            with contextlib.suppress(OSError, wire.Refused):
                for document in self._hear():
                    if document["k"] == "fatal":
                        return str(document["m"])
        self._line.settimeout(None)
        return self._fatal or f"{type(error).__name__}: {error}"

    def _hear(self) -> list[wire.Document]:
        assert self._line is not None
        piece = self._line.recv(1 << 18)
        if not piece:
            raise wire.Refused("it was closed")
        return self._reader.feed(piece)

    def _fail_all(self, message: str) -> None:
        with self._lock:
            self._fatal = self._fatal or message
            waiting, self._tickets = list(self._tickets.values()), {}
            if self._joining is not None:
                waiting.append(self._joining)
        for ticket in waiting:
            ticket.finish(error=self._fatal)

    # -- within -------------------------------------------------------------------------------------------------------

    def _alone(self, ticket: Ticket) -> None:
        if ticket.request.kind in (BARRIER, SHARE):
            ticket.finish()
            return
        request = ticket.request
        wrong = disagreement(request.name, {0: request}, 1)
        if wrong is not None:
            ticket.finish(error=wrong)
            return
        rows = [[shape[0]] for _, _, shape in request.members] if request.kind == ALLGATHER else []
        job = Job([request], [ticket], rows or [list(request.splits)])
        ticket.finish(self._transport(request).perform(job)[0])

    def _document(self, request: Request) -> list[Any]:
        if len(request.members) < WORTH_A_HASH:
            return [request.name, "", request.as_list()]
        digest = request.digest()
        if digest in self._told:
            return [request.name, digest, None]
        self._told.add(digest)
        return [request.name, digest, request.as_list()]

    def _transport(self, request: Request) -> Transport:
        return self._transports[request.device.partition("/")[0]]

    def _take(self, name: str) -> Ticket | None:
        with self._lock:
            return self._tickets.pop(name, None)

    def _send(self, document: wire.Document) -> None:
        assert self._line is not None
        with self._sending:
            wire.send(self._line, document)

    def _meet(self, purpose: str) -> socket.socket:
        place, within = self.place, number("HOROVOD_START_TIMEOUT", START_WITHIN)
        if place.rank == 0:
            self._coordinator = Coordinator(_listen(place), place.size, place.secret, purpose)
        deadline = time.monotonic() + within
        while True:
            try:
                line = wire.connect(place.host, place.port, max(deadline - time.monotonic(), 0.1))
                try:
                    wire.introduce(line, place.secret, place.rank, purpose)
                    return _all_here(line, deadline)
                except (wire.Refused, OSError):
                    line.close()
                    raise
            except (wire.Refused, OSError) as error:
                if time.monotonic() > deadline:
                    raise HorovodInternalError(
                        f"Rank {place.rank} has not met the others at {place.host}:{place.port} within {within:.0f} s: "
                        f"{error}. Every rank must call hvd.init(); HOROVOD_START_TIMEOUT sets another limit."
                    ) from None
                time.sleep(0.05)


def _all_here(line: socket.socket, deadline: float) -> socket.socket:
    """Wait until all ranks have come: rank 0 says so."""
    line.settimeout(max(deadline - time.monotonic(), 0.1))
    reader = wire.Reader()
    while True:
        piece = line.recv(1)
        if not piece:
            raise wire.Refused("rank 0 has closed the line")
        if reader.feed(piece):
            line.settimeout(None)
            return line


def _listen(place: Place) -> socket.socket:
    family = socket.AF_INET6 if ":" in place.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    deadline = time.monotonic() + 10.0  # a session that was left a moment ago may still have the port
    try:
        while True:
            try:
                listener.bind((place.host, place.port))
                break
            except OSError as error:
                if error.errno != errno.EADDRINUSE or time.monotonic() > deadline:
                    raise
                time.sleep(0.05)
        listener.listen(min(place.size + 16, 4096))
    except OSError as error:
        listener.close()
        raise HorovodInternalError(
            f"Rank 0 cannot listen at {place.host}:{place.port}, where the other ranks look for it: {error}."
        ) from None
    return listener
