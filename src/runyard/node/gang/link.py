"""The connection between two node runners of a gang: JSON lines, signed with the secret of the gang, and heartbeats.

Both sides prove first that they know the secret, with a number that the other has drawn. Every line is signed with a
key that only this connection has, and counted, so that nobody in between can add a line or send one again.

    leader:   {"drawn"}
    follower: {"node", "drawn", "proof"}
    leader:   {"proof"}, and then both: <signature> {"say": kind, "at": seconds, ...}
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import socket
import threading
import time
from typing import Any, BinaryIO, Callable, Dict, Iterable
from urllib.parse import urlsplit

from runyard.node.problem import RunProblem

BEAT_EVERY = 2.0
SILENCE = 10.0  # seconds without a message after which a node is lost
LONGEST_LINE = 1 << 26
LONGEST_GREETING = 4096

BEAT = "beat"
LOST = "lost"  # never sent: the message that stands for a connection that broke
LEADER, FOLLOWER = b"leader", b"follower"

WITNESS = "witness"
"""A file in the folder of node 0: whoever reads the right secret there shares the disk with it."""

Message = Dict[str, Any]


class LinkLost(Exception):
    """The other side is gone, or silent; the text is which."""


class Stranger(Exception):
    """The other side does not know the secret of the gang."""


class Link:
    """One end of a connection. Any thread may send; one thread receives."""

    def __init__(self, connection: socket.socket, reader: BinaryIO, node: int, key: bytes, leads: bool) -> None:
        self.node = node  # which node of the gang is at the follower's end
        self.received_at = time.monotonic()  # when the last message of the other side came
        self._connection, self._reader = connection, reader
        self._writes, self._reads = (LEADER, FOLLOWER) if leads else (FOLLOWER, LEADER)
        self._key, self._sent, self._received = key, 0, 0
        self._sending = threading.Lock()

    def send(self, kind: str, **more: Any) -> None:
        """Send a message. When that fails the connection is over, and `receive` raises."""
        with self._sending:
            self._send(kind, more)

    def beat(self) -> None:
        """Send a heartbeat, unless another message is being sent."""
        if self._sending.acquire(blocking=False):
            try:
                self._send(BEAT, {})
            finally:
                self._sending.release()

    def receive(self) -> Message:
        """The next message; LinkLost when none will come."""
        while True:
            message = self._receive()
            if message["say"] != BEAT:
                return message

    def close(self) -> None:
        try:
            self._connection.shutdown(socket.SHUT_RDWR)  # a thread that waits in `receive` is woken
        except OSError:
            return  # it is closed already
        finally:
            self._connection.close()

    def _send(self, kind: str, more: Message) -> None:
        text = json.dumps({"say": kind, "at": time.monotonic(), **more}).encode("utf-8")
        line = self._signature(self._writes, self._sent, text) + b" " + text + b"\n"
        self._sent += 1
        try:
            self._connection.sendall(line)
        except OSError:
            self.close()

    def _receive(self) -> Message:
        line = _line(self._reader, LONGEST_LINE)
        signature, _, text = line.partition(b" ")
        if not hmac.compare_digest(signature, self._signature(self._reads, self._received, text)):
            raise LinkLost("it sent something that was not signed with the secret of the run")
        self._received += 1
        self.received_at = time.monotonic()
        message: Message = json.loads(text)
        return message

    def _signature(self, writer: bytes, number: int, text: bytes) -> bytes:
        return _sign(self._key, b"%s %d " % (writer, number) + text)


def welcome(connection: socket.socket, secret: str) -> Link:
    """The leader's side of a new connection; Stranger when a follower is not at its other end."""
    reader = _ready(connection)
    drawn = os.urandom(16).hex()
    _write(connection, {"drawn": drawn})
    greeting = _greeting(reader)
    node = greeting.get("node")
    if not isinstance(node, int):
        raise Stranger("it does not name its node")
    key = _key(secret, drawn, str(greeting.get("drawn")), node)
    _check(greeting, key, FOLLOWER)
    _write(connection, {"proof": _sign(key, LEADER).decode()})
    return Link(connection, reader, node, key, leads=True)


def join(place: str, secret: str, node: int) -> Link:
    """Connect to the leader, which listens at `place` ("address:port"); LinkLost or Stranger when that fails."""
    address, _, port = place.rpartition(":")
    try:
        connection = socket.create_connection((address.strip("[]"), int(port)), timeout=SILENCE)
    except (OSError, ValueError) as error:
        raise LinkLost(f"{place} cannot be reached: {error}") from error
    try:
        reader = _ready(connection)
        drawn = os.urandom(16).hex()
        theirs = str(_greeting(reader).get("drawn"))
        key = _key(secret, theirs, drawn, node)
        _write(connection, {"node": node, "drawn": drawn, "proof": _sign(key, FOLLOWER).decode()})
        _check(_greeting(reader), key, LEADER)
    except BaseException:
        connection.close()
        raise
    return Link(connection, reader, node, key, leads=False)


def keep_beating(links: Callable[[], Iterable[Link]], over: threading.Event) -> None:
    """Have a thread send heartbeats on every link, until `over`."""

    def beat() -> None:
        while not over.wait(BEAT_EVERY):
            for link in links():
                link.beat()

    threading.Thread(target=beat, name="beats", daemon=True).start()


def own_address(server_url: str) -> str:
    """The address that this machine reaches the server from: the other nodes find it there as well."""
    place = urlsplit(server_url)
    try:
        found = socket.getaddrinfo(place.hostname, place.port or 80, type=socket.SOCK_DGRAM)
        family, kind, protocol, _, target = found[0]
        with socket.socket(family, kind, protocol) as probe:  # of datagrams: nothing is sent
            probe.connect(target)
            return str(probe.getsockname()[0])
    except OSError as error:
        raise RunProblem(
            "NodeWithoutAddress",
            f"{os.uname().nodename} does not know by which of its addresses other nodes reach it: there is no way "
            f"from it to the server at {server_url} ({error}).",
            "Check the network of the node and the address that the server is told to be at.",
        ) from error


def _ready(connection: socket.socket) -> BinaryIO:
    connection.settimeout(SILENCE)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection.makefile("rb")


def _line(reader: BinaryIO, longest: int) -> bytes:
    try:
        line = reader.readline(longest)
    except socket.timeout as error:
        raise LinkLost(f"nothing was heard from it for {SILENCE:.0f} s") from error
    except (OSError, ValueError) as error:  # ValueError: this side has closed it
        raise LinkLost(f"the connection to it broke: {error}") from error
    if not line.endswith(b"\n"):
        raise LinkLost("the connection to it was closed")
    return line[:-1]


def _write(connection: socket.socket, greeting: Message) -> None:
    try:
        connection.sendall(json.dumps(greeting).encode("utf-8") + b"\n")
    except OSError as error:
        raise LinkLost(f"the connection to it broke: {error}") from error


def _greeting(reader: BinaryIO) -> Message:
    try:
        greeting = json.loads(_line(reader, LONGEST_GREETING))
    except ValueError as error:
        raise Stranger("what is at the other end is no node runner") from error
    if not isinstance(greeting, dict):
        raise Stranger("what is at the other end is no node runner")
    return greeting


def _check(greeting: Message, key: bytes, role: bytes) -> None:
    proof = str(greeting.get("proof")).encode("utf-8", "replace")
    if not hmac.compare_digest(proof, _sign(key, role)):
        raise Stranger("it does not know the secret of the run")


def _key(secret: str, leaders: str, followers: str, node: int) -> bytes:
    if not secret:
        raise RunProblem("InvalidRun", "The plan of a run over many nodes must have a secret (`link`), and has none.")
    return _sign(secret.encode("utf-8"), f"{leaders} {followers} {node}".encode())


def _sign(key: bytes, text: bytes) -> bytes:
    return hmac.new(key, text, hashlib.sha256).hexdigest().encode("ascii")
