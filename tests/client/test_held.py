"""Requests whose responses are held: each line as it comes, on one connection for as long as it can be used."""

from __future__ import annotations

import os
import select
import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.delivery_server import DeliveryServer, problem, server

from runyard.client.held import Held
from runyard.client.http import Client, ClientProblem, Locator, Unreachable
from runyard.contracts.delivery import COME, Delivery, LogPart, encode

__all__ = ["server"]

EMPTY = encode(Delivery())
HELD = encode(Delivery(hold=True))


@pytest.fixture
def held(server: DeliveryServer) -> Iterator[Held]:
    held = Held(Client(server.locator, timeout=30.0))
    yield held
    held.close()


@pytest.fixture
def wake() -> Iterator[tuple[int, int]]:
    read, write = os.pipe()
    yield read, write
    os.close(read)
    os.close(write)


def test_requests_go_over_one_connection(held: Held, server: DeliveryServer) -> None:
    for _ in range(3):
        assert held.post("/x", EMPTY)["status"] == "Running"
        assert not held.open
    assert len(set(server.connections)) == 1
    assert set(server.targets) == {"/x"}
    assert set(server.tokens) == {"Bearer a-token"}


def test_the_second_line_comes_as_soon_as_it_is_sent_and_the_connection_is_used_again(
    held: Held, server: DeliveryServer, wake: tuple[int, int]
) -> None:
    server.held = 60.0
    assert held.post("/x", HELD)["held"] == 60.0
    assert held.open
    timer = threading.Timer(0.05, server.come)
    timer.start()
    assert held.wait(60.0, wake[0]) == COME
    assert not held.open
    timer.join()
    held.post("/x", EMPTY)
    assert len(set(server.connections)) == 1


def test_a_second_line_that_came_together_with_the_first_is_not_overlooked(wake: tuple[int, int]) -> None:
    def answer(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with connection:
            connection.recv(1 << 16)
            body = b'{"held":5}\n{"come":true}\n'
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=answer, args=(listener,))
        thread.start()
        held = Held(Client(Locator(f"http://127.0.0.1:{listener.getsockname()[1]}"), timeout=30.0))
        assert held.post("/x", HELD) == {"held": 5}
        assert held.open
        assert held.wait(60.0, wake[0]) == COME
        assert not held.open
        thread.join()
        held.close()


def test_something_else_ends_the_wait_and_the_response_stays_open(
    held: Held, server: DeliveryServer, wake: tuple[int, int]
) -> None:
    server.held = 60.0
    held.post("/x", HELD)
    assert held.wait(0.01, wake[0]) is None
    os.write(wake[1], b"x")
    assert held.wait(60.0, wake[0]) is None
    assert held.open


def test_a_response_that_is_still_open_is_given_up_for_the_next_request(held: Held, server: DeliveryServer) -> None:
    server.held = 60.0
    held.post("/x", HELD)
    held.post("/x", EMPTY)
    assert len(set(server.connections)) == 2


def test_a_response_that_ends_without_a_second_line(held: Held, server: DeliveryServer, wake: tuple[int, int]) -> None:
    server.held = 0.05
    held.post("/x", HELD)
    assert held.wait(60.0, wake[0]) is None
    assert not held.open
    assert not held.broken
    held.post("/x", EMPTY)
    assert len(set(server.connections)) == 1


def test_a_connection_that_breaks_while_the_response_is_held_is_no_error(
    held: Held, server: DeliveryServer, wake: tuple[int, int]
) -> None:
    server.held = 60.0
    held.post("/x", HELD)
    while not server.holds:
        pass
    server.hang_up()
    assert held.wait(60.0, wake[0]) is None
    assert held.broken
    assert held.post("/x", EMPTY)["status"] == "Running"


def test_a_wait_without_a_response_waits_for_the_other_thing(held: Held, wake: tuple[int, int]) -> None:
    os.write(wake[1], b"x")
    assert held.wait(60.0, wake[0]) is None


def test_a_response_in_pieces_of_one_byte(held: Held, server: DeliveryServer, wake: tuple[int, int]) -> None:
    server.trickle, server.held = True, 60.0
    assert held.post("/x", HELD)["held"] == 60.0
    while not server.holds:
        pass
    server.come()
    assert held.wait(60.0, wake[0]) == COME
    held.post("/x", EMPTY)
    assert len(set(server.connections)) == 1


def test_a_refusal_is_raised_and_the_connection_is_used_again(held: Held, server: DeliveryServer) -> None:
    server.faults = [lambda delivery: problem("disk_full", 507, free=3)]
    with pytest.raises(ClientProblem) as refusal:
        held.post("/x", EMPTY)
    assert (refusal.value.code, refusal.value.status, refusal.value.detail) == ("disk_full", 507, {"free": 3})
    held.post("/x", EMPTY)
    assert len(set(server.connections)) == 1


def test_a_large_body_arrives_whole(held: Held, server: DeliveryServer) -> None:
    data = os.urandom(3_000_000)
    assert held.post("/x", encode(Delivery(parts=[LogPart("a", 0, data)])))["parts"] == [{"size": len(data)}]
    assert server.files["a"] == data


def test_a_server_that_hung_up_between_two_requests_is_asked_again(held: Held, server: DeliveryServer) -> None:
    held.post("/x", EMPTY)
    server.receive_only = True
    assert held.post("/x", EMPTY)["status"] == "Running"
    assert len(server.deliveries) == 3, "it had stored the second one, and gets it twice"


@pytest.mark.parametrize(
    "response",
    [
        b"",
        b"SSH-2.0-OpenSSH_9.2\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
        b"x" * 100_000,
    ],
)
def test_what_is_no_response_is_unreachable(response: bytes) -> None:
    def answer(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with connection:
            connection.recv(1 << 16)
            connection.sendall(response)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=answer, args=(listener,))
        thread.start()
        held = Held(Client(Locator(f"http://127.0.0.1:{listener.getsockname()[1]}"), timeout=30.0))
        with pytest.raises(Unreachable):
            held.post("/x", EMPTY)
        thread.join()
        assert held.broken


@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\n",
        b"HTTP/1.0 200 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\n\r\nd;name=value\r\n",
    ],
)
def test_the_forms_that_a_response_may_have(head: bytes) -> None:
    def answer(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with connection:
            connection.recv(1 << 16)
            connection.sendall(head + b'{"status":1}\n' + (b"\r\n0\r\n\r\n" if b"Chunked" in head else b""))

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=answer, args=(listener,))
        thread.start()
        held = Held(Client(Locator(f"http://127.0.0.1:{listener.getsockname()[1]}"), timeout=30.0))
        value: Any = held.post("/x", EMPTY)
        assert value == {"status": 1}
        thread.join()
        held.close()


@pytest.fixture
def over_tls(server: DeliveryServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Held]:
    """As behind a proxy that ends TLS in front of the server."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("openssl is not installed: there is nothing to make a certificate with")
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    command = [openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    command += ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2"]
    subprocess.run([*command, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    inside = ("127.0.0.1", int(server.locator.url.rpartition(":")[2]))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        proxy = threading.Thread(target=_end_tls, args=(listener, context, inside))
        proxy.start()
        url = f"https://127.0.0.1:{listener.getsockname()[1]}"
        held = Held(Client(Locator(url, "a-token"), timeout=30.0))
        yield held
        held.close()
        proxy.join(60)
        assert not proxy.is_alive()


def _end_tls(listener: socket.socket, context: ssl.SSLContext, inside: tuple[str, int]) -> None:
    """Pass on what comes on one connection, in both directions, until one side has closed its end."""
    with (
        context.wrap_socket(listener.accept()[0], server_side=True) as outer,
        socket.create_connection(inside) as inner,
    ):
        while True:
            ready = [outer] if outer.pending() else select.select([outer, inner], [], [], 60)[0]
            source, target = (outer, inner) if outer in ready else (inner, outer)
            data = source.recv(1 << 16) if ready else b""
            if not data:
                return
            target.sendall(data)


def test_a_held_response_over_tls(over_tls: Held, server: DeliveryServer, wake: tuple[int, int]) -> None:
    """TLS has messages of its own: one that can be read is no line yet, and a line may have been read already."""
    server.held = 60.0
    for _ in range(3):
        assert over_tls.post("/x", HELD)["held"] == 60.0
        assert over_tls.wait(0.05, wake[0]) is None
        assert over_tls.open
        timer = threading.Timer(0.05, server.come)
        timer.start()
        assert over_tls.wait(60.0, wake[0]) == COME
        timer.join()
    assert len(set(server.connections)) == 1, "one connection is enough"
    over_tls.post("/x", HELD)
    os.write(wake[1], b"x")
    assert over_tls.wait(60.0, wake[0]) is None
    assert over_tls.open
    server.hang_up()
    os.read(wake[0], 1)
    assert over_tls.wait(60.0, wake[0]) is None
    assert not over_tls.open
