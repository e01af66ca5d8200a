"""What rank 0 does for all ranks: it hears what each wants done, and tells all of them in one order what to do.

A collective begins when every rank has asked for it by its name, in whatever order they ask. Where they disagree, or
one is gone, every rank is told which tensor and which ranks it is about. Large requests are told in full once, and by
their hash afterwards: a step of training costs one small message for each bucket of gradients and rank.
"""

from __future__ import annotations

import contextlib
import selectors
import socket
import sys
import threading
import time

from . import wire
from .places import number
from .requests import ALLGATHER, ALLREDUCE, ALLTOALL, SHARE, Request, disagreement, ranks_in_words

LOOK_EVERY = 0.25
_BYTES = {"float64": 8, "int64": 8, "complex64": 8, "complex128": 16, "float32": 4, "int32": 4, "float16": 2}


class Coordinator:
    """Runs in a thread of its own on rank 0, until all ranks have said goodbye."""

    def __init__(self, listener: socket.socket, size: int, secret: str, purpose: str) -> None:
        self._listener, self._size, self._secret, self._purpose = listener, size, secret, purpose
        self._lines: dict[int, socket.socket] = {}
        self._pending: dict[str, dict[int, Request]] = {}
        self._since: dict[str, float] = {}
        self._known: dict[str, tuple[str, Request]] = {}  # requests by their hash
        self._joined: list[int] = []  # in the order in which they have joined
        self._left: set[int] = set()
        self._blocked: dict[int, list[str]] = {}
        self._moved = time.monotonic()  # when something was last asked or done
        self._warned: set[str] = set()
        self._fuse = number("HOROVOD_FUSION_THRESHOLD", 64 << 20)
        self._warn_after = number("HOROVOD_STALL_CHECK_TIME_SECONDS", 60.0)
        self._give_up_after = number("HOROVOD_STALL_SHUTDOWN_TIME_SECONDS", 0.0)
        self._stuck_after = number("RUNYARD_HOROVOD_STUCK_SECONDS", 5.0)
        self._all_here = threading.Event()
        threading.Thread(target=self._accept, name="horovod-accept", daemon=True).start()
        self._thread = threading.Thread(target=self._run, name="horovod-coordinator", daemon=True)
        self._thread.start()

    def wait(self, timeout: float) -> None:
        self._thread.join(timeout)

    # -- the ranks come -----------------------------------------------------------------------------------------------

    def _accept(self) -> None:
        while not self._all_here.is_set():
            try:
                line, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._greet, args=(line,), daemon=True).start()

    def _greet(self, line: socket.socket) -> None:
        try:
            line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            rank = wire.challenge(line, self._secret, self._purpose)
        except (wire.Refused, OSError):
            line.close()
            return
        if not 0 <= rank < self._size or rank in self._lines:
            line.close()
            return
        self._lines[rank] = line
        if len(self._lines) == self._size:
            self._all_here.set()

    # -- they talk ----------------------------------------------------------------------------------------------------

    def _run(self) -> None:
        self._all_here.wait()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # else the thread that accepts keeps the port
        self._listener.close()
        selector, readers = selectors.DefaultSelector(), {rank: wire.Reader() for rank in self._lines}
        for rank, line in self._lines.items():
            selector.register(line, selectors.EVENT_READ, rank)
        self._send_all({"k": "here"})
        while len(self._left) < self._size:
            asked = False
            for key, _ in selector.select(LOOK_EVERY):
                rank = int(key.data)
                try:
                    piece = self._lines[rank].recv(1 << 18)
                    documents = readers[rank].feed(piece) if piece else None
                except (OSError, wire.Refused, ValueError):
                    documents = None
                if documents is None:
                    selector.unregister(key.fileobj)
                    self._lost(rank)
                    continue
                for document in documents:
                    asked = self._hear(rank, document) or asked
            if asked:
                self._moved = time.monotonic()
                self._decide()
            elif self._pending:
                self._look_for_stalls()
        for line in self._lines.values():
            line.close()

    def _hear(self, rank: int, document: wire.Document) -> bool:
        """Note what a rank says; whether something may have to be decided."""
        kind = document["k"]
        if kind == "blocked":
            self._blocked[rank] = list(document["n"])
            return False
        self._blocked.pop(rank, None)
        if kind == "ask":
            for name, digest, fields in document["r"]:
                self._note(rank, name, digest, fields)
        elif kind == "join":
            self._joined.append(rank)
        elif kind == "bye":
            self._left.add(rank)
        elif kind == "fail":
            self._send_all({"k": "fatal", "m": str(document["m"])})
        return True

    def _note(self, rank: int, name: str, digest: str, fields: list[object] | None) -> None:
        if fields is not None:
            request = Request.from_list(name, fields)
            if digest:
                self._known[digest] = (digest, request)
        else:
            request = Request.from_list(name, self._known[digest][1].as_list())
        self._pending.setdefault(name, {})[rank] = request
        self._since.setdefault(name, time.monotonic())

    # -- what is done next --------------------------------------------------------------------------------------------

    def _decide(self) -> None:
        if self._joined and len(self._joined) + len(self._left - set(self._joined)) == self._size:
            self._send_all({"k": "joined", "last": self._joined[-1]})
            self._joined = []
        away = set(self._joined)
        ready: list[tuple[str, dict[int, Request]]] = []
        for name, requests in list(self._pending.items()):
            missing = [rank for rank in self._missing(requests) if rank not in away]
            gone = [rank for rank in missing if rank in self._left]
            if gone:
                asking = ranks_in_words(sorted(requests))
                self._fail(
                    name,
                    f"The tensor {name!r} was handed in by {asking}, but {ranks_in_words(gone)} has ended or called "
                    "shutdown without it: the ranks have not made the same number of calls.",
                )
            elif not missing:
                self._take(name)
                wrong = disagreement(name, requests, self._size) or self._not_with_join(name, requests, away)
                if wrong:
                    self._send_all({"k": "error", "n": name, "m": wrong})
                else:
                    ready.append((name, requests))
        if ready:
            self._send_all({"k": "go", "j": self._fused(ready, away)})

    def _missing(self, requests: dict[int, Request]) -> list[int]:
        """Who takes part in something and has not asked for it yet."""
        return [rank for rank in requests[min(requests)].ranks or range(self._size) if rank not in requests]

    def _fused(self, ready: list[tuple[str, dict[int, Request]]], away: set[int]) -> list[wire.Document]:
        """Jobs in their order. Neighbours that can be reduced in one go are one job."""
        jobs: list[wire.Document] = []
        last: Request | None = None
        room = 0.0
        for name, requests in ready:
            request = requests[min(requests)]
            size = request.elements * _BYTES.get(request.members[0][1] if request.members else "", 1)
            alone = request.kind != ALLREDUCE or len(request.members) != 1 or request.op == "adasum"
            if not alone and last is not None and last.fuses_with == request.fuses_with and size <= room:
                jobs[-1]["n"].append(name)
                room -= size
            else:
                jobs.append({"n": [name], **self._of_all_ranks(request, requests)})
                last, room = (None, 0.0) if alone else (request, self._fuse - size)
            if away:
                jobs[-1].setdefault("m", []).append(request.as_list())
        return jobs

    def _of_all_ranks(self, request: Request, requests: dict[int, Request]) -> wire.Document:
        """What each rank must know of all others to do its part."""
        if request.kind == ALLGATHER:
            each = [[shape[0] for _, _, shape in requests[rank].members] for rank in sorted(requests)]
            return {"x": [list(rows) for rows in zip(*each)]}
        if request.kind == ALLTOALL:
            return {"x": [list(requests[rank].splits) for rank in sorted(requests)]}
        if request.kind == SHARE:
            return {"x": [requests[rank].value for rank in sorted(requests)]}
        return {}

    def _not_with_join(self, name: str, requests: dict[int, Request], away: set[int]) -> str | None:
        kind, among = requests[min(requests)].kind, requests[min(requests)].ranks
        absent = sorted(away & set(among)) if among else sorted(away)
        if absent and kind != ALLREDUCE:
            return (
                f"The tensor {name!r} needs {kind}, which {ranks_in_words(absent)} cannot take part in after "
                "hvd.join(): only allreduce can be done then."
            )
        return None

    # -- what goes wrong ----------------------------------------------------------------------------------------------

    def _lost(self, rank: int) -> None:
        if rank in self._left:
            return
        self._left.add(rank)
        waiting = [name for name, requests in self._pending.items() if rank in self._missing(requests)]
        about = f" while {_named(waiting)} waited for it" if waiting else ""
        self._send_all({"k": "fatal", "m": f"Rank {rank} has ended{about}: the other ranks cannot go on."})

    def _look_for_stalls(self) -> None:
        now = time.monotonic()
        waiting = set(range(self._size)) - set(self._joined) - self._left
        # A rank that waits for something already under way is not stuck, however long that takes.
        stuck = {rank for rank, names in self._blocked.items() if any(name in self._pending for name in names)}
        if waiting and waiting <= stuck and now - self._moved > self._stuck_after:
            self._fail_all(
                "The ranks wait for different tensors, and none can go on: "
                + "; ".join(f"rank {rank} for {_named(self._blocked[rank])}" for rank in sorted(waiting))
                + (f"; {ranks_in_words(sorted(self._joined))} has joined" if self._joined else "")
                + ". The names or the number of calls differ between the ranks."
            )
            return
        for name, since in list(self._since.items()):
            missing = self._missing(self._pending[name])
            said = (
                f"the tensor {name!r} was handed in by {ranks_in_words(sorted(self._pending[name]))} "
                f"{now - since:.0f} s ago, and {ranks_in_words(missing)} has not come to it"
            )
            if now - since > self._warn_after and name not in self._warned:
                self._warned.add(name)
                print(f"Horovod: {said}.", file=sys.stderr, flush=True)
            if self._give_up_after and now - since > self._give_up_after:
                self._fail(name, f"{said[0].upper()}{said[1:]}.")

    def _fail_all(self, message: str) -> None:
        for name in list(self._pending):
            self._fail(name, message)

    def _fail(self, name: str, message: str) -> None:
        self._take(name)
        self._send_all({"k": "error", "n": name, "m": message})

    def _take(self, name: str) -> None:
        self._pending.pop(name)
        self._since.pop(name)
        self._blocked.clear()  # whoever still waits says so again
        self._warned.discard(name)

    def _send_all(self, document: wire.Document) -> None:
        for rank, line in self._lines.items():
            if rank not in self._left:
                with contextlib.suppress(OSError):  # its end is seen when it is read from
                    wire.send(line, document)


def _named(names: list[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:5])
    return shown + (f" and {len(names) - 5} others" if len(names) > 5 else "") or "nothing"
