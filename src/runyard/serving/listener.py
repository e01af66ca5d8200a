"""The one listening socket of a service, handed from process to process, so that no waiting connection is ever lost.

What a socket has accepted in the kernel is lost when its last holder closes it. Sockets that only share a port
(SO_REUSEPORT) each have a queue of their own, which goes with them. So all processes of a service on one machine hold
the same socket: whoever has it offers it at a Unix socket beside the others', `<place>.<pid>`, and whoever comes asks
those who are there, and binds a new one only when nobody is.
"""

from __future__ import annotations

import array
import contextlib
import errno
import fcntl
import glob
import os
import socket
import threading
from typing import Iterator

BACKLOG = 2048
ANSWER_SECONDS = 2.0  # how long a peer that lives may take to hand it over


class CannotListen(RuntimeError):
    """The port cannot be had; the message says why, and what to do."""


class Offer:
    """This process's offer of the socket. Call `answer` when it can be read, or let a thread do it (`in_thread`)."""

    def __init__(self, place: str, listening: socket.socket) -> None:
        self._listening = listening
        self._path = f"{place}.{os.getpid()}"
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._path)  # of a process that had this number before
        with _short(self._path) as path:
            self._socket.bind(path)
        os.chmod(self._path, 0o600)
        self._socket.listen(64)
        self._socket.setblocking(False)

    def fileno(self) -> int:
        return self._socket.fileno()

    def answer(self) -> None:
        """Hand the socket to everybody who waits for it."""
        while True:
            try:
                peer, _ = self._socket.accept()
            except (BlockingIOError, InterruptedError):
                return
            with peer, contextlib.suppress(OSError):  # whoever asked may be gone
                peer.settimeout(ANSWER_SECONDS)
                descriptor = array.array("i", [self._listening.fileno()])
                peer.sendmsg([b"socket"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, descriptor)])

    def in_thread(self) -> None:
        """Answer from a thread of its own, until `close`."""
        self._socket.setblocking(True)
        threading.Thread(target=self._answer_all, name="listener", daemon=True).start()

    def _answer_all(self) -> None:
        with contextlib.suppress(OSError):  # closed
            self.answer()

    def close(self) -> None:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._path)
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)  # wakes the thread
        self._socket.close()


def obtain(place: str, host: str, port: int) -> tuple[socket.socket, Offer | None]:
    """The socket of the service at `place` (any path), from a peer or new; and this process's own offer of it.

    Without a place the socket is new and not offered. CannotListen when the port is taken by somebody else, or when
    the service listens elsewhere than asked.
    """
    if not place:
        return bind(host, port), None
    folder = os.path.dirname(os.path.abspath(place))
    os.makedirs(folder, mode=0o700, exist_ok=True)
    with _alone(f"{place}.lock"):
        listening = ask(place)
        if listening is None or not _is_at(listening, port):
            listening = bind(host, port)
        return listening, Offer(place, listening)


def ask(place: str) -> socket.socket | None:
    """The socket from a peer that lives; None when there is none. What dead peers have left is removed."""
    for path in sorted(_offers(place), key=_age):
        if path == f"{place}.{os.getpid()}":
            continue
        found = _from(path)
        if found is not None:
            return found
    return None


def bind(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(BACKLOG)
    except OSError as error:
        listening.close()
        if error.errno == errno.EADDRINUSE:
            raise CannotListen(
                f"Port {port} of {host} is taken by another process. Choose another port for the service, or 0 for "
                f"any; `ss -ltnp 'sport = :{port}'` shows who has it."
            ) from error
        raise CannotListen(f"Port {port} of {host} cannot be listened on: {error.strerror}.") from error
    listening.setblocking(False)
    return listening


def _is_at(listening: socket.socket, port: int) -> bool:
    """A service that was given another port gets a new socket; the old one goes with the old revision."""
    return port in (0, listening.getsockname()[1])


def _offers(place: str) -> list[str]:
    return [path for path in glob.glob(f"{glob.escape(place)}.*") if path.rpartition(".")[2].isdigit()]


def _age(path: str) -> float:
    """Newest first."""
    try:
        return -os.stat(path).st_mtime
    except FileNotFoundError:
        return 0.0


def _from(path: str) -> socket.socket | None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as peer:
        peer.settimeout(ANSWER_SECONDS)
        try:
            with _short(path) as short:
                peer.connect(short)
            _, ancillary, _, _ = peer.recvmsg(16, socket.CMSG_SPACE(array.array("i").itemsize))
        except ConnectionRefusedError:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
            return None
        except OSError:  # it has just gone, or does not answer
            return None
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            descriptors = array.array("i")
            descriptors.frombytes(data[: len(data) - len(data) % descriptors.itemsize])
            listening = socket.socket(fileno=descriptors[0])
            listening.setblocking(False)
            os.set_inheritable(listening.fileno(), False)
            return listening
    return None


@contextlib.contextmanager
def _short(path: str) -> Iterator[str]:
    """A name of the path that fits into the address of a Unix socket, which holds about a hundred bytes."""
    if len(os.fsencode(path)) < 100:
        yield path
        return
    folder = os.open(os.path.dirname(path), os.O_RDONLY)
    try:
        yield f"/proc/self/fd/{folder}/{os.path.basename(path)}"
    finally:
        os.close(folder)


@contextlib.contextmanager
def _alone(path: str) -> Iterator[None]:
    """Two that come at once must not both find nobody and bind."""
    with open(path, "a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
