"""Taking connections of MLflow's client, a thread for each, and the little of HTTP that it speaks."""

from __future__ import annotations

import json
import socket
import threading
from pathlib import Path
from typing import Any, BinaryIO, Iterable, Iterator, NamedTuple
from urllib.parse import unquote

from runyard.contracts.plan import Plan
from runyard.node.log import log_line

LONGEST_LINE = 64 << 10
MOST_HEADERS = 200
MOST_BYTES = 64 << 20
"""Of a body that is read whole; those of files are taken in pieces."""

PIECE = 1 << 18
MOST_CONNECTIONS = 512

_REASONS = {200: "OK", 302: "Found", 400: "Bad Request", 401: "Unauthorized", 404: "Not Found", 413: "Too Large"}


class BadRequest(Exception):
    """What has come is no request that is understood here."""


class Request(NamedTuple):
    """A request, whose body is read from `body`."""

    method: str
    path: str  # decoded
    target: str  # as it came, with what follows the path
    headers: dict[str, str]
    body: Body

    def json(self) -> dict[str, Any]:
        """The body as a JSON object; an empty one where there is no body."""
        held = b"".join(self.body.pieces(MOST_BYTES))
        try:
            value = json.loads(held) if held.strip() else {}
        except (ValueError, RecursionError) as error:
            raise BadRequest(f"The body is no JSON: {error}.") from error
        if not isinstance(value, dict):
            raise BadRequest("The body is no JSON object.")
        return value


class Reply(NamedTuple):
    """`length` is that of the pieces, where it is known."""

    status: int
    pieces: Iterable[bytes]
    length: int | None = None
    headers: tuple[tuple[str, str], ...] = (("Content-Type", "application/json"),)


class Body:
    """The body of a request, in pieces. What nobody has read is read at the end, so that the next request is found."""

    def __init__(self, file: BinaryIO, length: int, chunked: bool) -> None:
        self._file, self._left, self._chunked = file, length, chunked

    def pieces(self, most: int | None = None) -> Iterator[bytes]:
        seen = 0
        for piece in self._pieces():
            seen += len(piece)
            if most is not None and seen > most:
                raise BadRequest(f"The body is larger than {most >> 20} MiB.")
            yield piece

    def _pieces(self) -> Iterator[bytes]:
        while True:
            while self._left:
                piece = self._file.read(min(PIECE, self._left))
                if not piece:
                    raise ConnectionError("the request has ended too early")
                self._left -= len(piece)
                yield piece
            if not self._chunked:
                return
            self._left = self._next_chunk()
            if not self._left:
                self._chunked = False
                while _line(self._file):
                    continue
                return

    def _next_chunk(self) -> int:
        line = _line(self._file)
        if not line:  # the line end after the former chunk
            line = _line(self._file)
        try:
            return int(line.partition(b";")[0], 16)
        except ValueError:
            raise BadRequest("The body is not in chunks.") from None


def listen(listener: socket.socket, first: int, plan: Plan, folder: Path, token: str) -> None:
    """Answer whoever connects; `first` is the descriptor of somebody who has."""
    from runyard.node.mlflow.face import Face

    face, places = Face(plan, folder, token), threading.BoundedSemaphore(MOST_CONNECTIONS)
    connection = socket.socket(fileno=first)
    while True:
        places.acquire()
        threading.Thread(target=_serve, args=(face, connection, places), name="mlflow", daemon=True).start()
        connection, _ = listener.accept()


def _serve(face: Any, connection: socket.socket, places: threading.BoundedSemaphore) -> None:
    try:
        with connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with connection.makefile("rb", buffering=PIECE) as stream:
                file: Any = stream
                while _one(face, connection, file):
                    continue
    except (OSError, ConnectionError):
        pass  # the client has gone
    except Exception as error:  # noqa: BLE001 - this connection alone ends
        log_line(f"a request of MLflow's client failed: {error!r}")
    finally:
        places.release()


def _one(face: Any, connection: socket.socket, file: BinaryIO) -> bool:
    """Answer one request; whether another one may follow."""
    try:
        request = _request(file, connection)
        if request is None:
            return False
        reply = face.answer(request)
        for _ in request.body.pieces():
            continue
    except BadRequest as error:
        said = json.dumps({"error_code": "INVALID_PARAMETER_VALUE", "message": str(error)}).encode("utf-8")
        _send(connection, Reply(400, [said], len(said)), close=True)
        return False
    close = request.headers.get("connection", "").lower() == "close"
    _send(connection, reply, close)
    return not close


def _request(file: BinaryIO, connection: socket.socket) -> Request | None:
    first = _line(file)
    if not first:
        return None
    parts = first.decode("latin-1").split(" ")
    if len(parts) != 3 or not parts[2].startswith("HTTP/1."):
        raise BadRequest("This is no request of HTTP.")
    headers: dict[str, str] = {}
    while True:
        line = _line(file)
        if not line:
            break
        if len(headers) >= MOST_HEADERS:
            raise BadRequest("The request has too many headers.")
        name, _, value = line.decode("latin-1").partition(":")
        headers[name.strip().lower()] = value.strip()
    length = headers.get("content-length", "0")
    if not (length.isascii() and length.isdigit() and len(length) < 16):
        raise BadRequest("The length of the body is no number.")
    if headers.get("expect", "").lower() == "100-continue":
        connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
    chunked = "chunked" in headers.get("transfer-encoding", "").lower()
    path = unquote(parts[1].partition("?")[0], errors="surrogateescape")
    return Request(parts[0], path, parts[1], headers, Body(file, 0 if chunked else int(length), chunked))


def _line(file: BinaryIO) -> bytes:
    line = file.readline(LONGEST_LINE + 1)
    if len(line) > LONGEST_LINE:
        raise BadRequest("A line of the request's head is too long.")
    return line.rstrip(b"\r\n")


def _send(connection: socket.socket, reply: Reply, close: bool) -> None:
    head = [f"HTTP/1.1 {reply.status} {_REASONS.get(reply.status, 'Answer')}"]
    head += [f"{name}: {value}" for name, value in reply.headers]
    chunked = reply.length is None
    head.append("Transfer-Encoding: chunked" if chunked else f"Content-Length: {reply.length}")
    if close:
        head.append("Connection: close")
    sent = ("\r\n".join(head) + "\r\n\r\n").encode("latin-1", "replace")
    for piece in reply.pieces:
        if piece:
            sent += b"%x\r\n%b\r\n" % (len(piece), piece) if chunked else piece
        if len(sent) >= PIECE:
            connection.sendall(sent)
            sent = b""
    connection.sendall(sent + (b"0\r\n\r\n" if chunked else b""))
