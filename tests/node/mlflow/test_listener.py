"""The little of HTTP that is spoken in a run: whatever comes, the next connection is answered."""

from __future__ import annotations

import contextlib
import socket

import pytest
from tests.node.mlflow.conftest import Spoken


def talk(spoken: Spoken, sent: bytes) -> bytes:
    received = b""
    reached = socket.create_connection(("127.0.0.1", spoken.address.port), timeout=30)
    with reached as connection, contextlib.suppress(ConnectionError):  # what is too long is not read to its end
        connection.sendall(sent)
        connection.shutdown(socket.SHUT_WR)
        while piece := connection.recv(1 << 16):
            received += piece
    return received


@pytest.mark.parametrize(
    "sent",
    [
        b"hello\r\n\r\n",
        b"GET /\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 5000 + b"\r\n",
        b"GET /" + b"x" * 200_000 + b" HTTP/1.1\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: many\r\n\r\n",
        b"POST /mlflow/local/api/2.0/mlflow/runs/log-batch HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"",
    ],
    ids=["no HTTP", "no version", "many headers", "a long line", "no length", "no chunks", "nothing"],
)
def test_what_is_no_request_harms_nobody(spoken: Spoken, sent: bytes) -> None:
    answer = talk(spoken, sent)
    assert answer == b"" or answer.startswith((b"HTTP/1.1 400", b"HTTP/1.1 401"))
    assert spoken.ask("GET", "mlflow/runs/get?run_id=run-1")[0] == 200


def test_requests_follow_one_another_on_a_connection(spoken: Spoken) -> None:
    head = f"Authorization: Bearer {spoken.address.token}\r\n".encode()
    path = b"/mlflow/local/api/2.0/mlflow/runs/log-metric"
    body = b'{"run_id": "run-1", "key": "m", "value": 1}'
    whole = b"POST %b HTTP/1.1\r\n%bContent-Length: %d\r\n\r\n%b" % (path, head, len(body), body)
    chunked = b"POST %b HTTP/1.1\r\n%bTransfer-Encoding: chunked\r\n\r\n%x\r\n%b\r\n0\r\n\r\n" % (
        path,
        head,
        len(body),
        body,
    )
    waiting = b"POST %b HTTP/1.1\r\n%bExpect: 100-continue\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%b" % (
        path,
        head,
        len(body),
        body,
    )
    answer = talk(spoken, whole + chunked + waiting)
    assert answer.count(b"HTTP/1.1 200 OK") == 3
    assert answer.count(b"100 Continue") == 1
    assert len(spoken.records()) == 3
