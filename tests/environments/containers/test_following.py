"""If these fail, a build that hangs in an engine cannot be cancelled, or what it wrote before its end is lost."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator

import docker
import pytest

from runyard.environments.containers.following import follow

DEADLINE = 60


class Cancelled(Exception):
    pass


@pytest.fixture
def client() -> Iterator[docker.DockerClient]:
    """A client that has not asked its engine anything."""
    made = docker.DockerClient(base_url="unix:///nowhere/docker.sock", version="1.41")
    yield made
    made.close()


def test_every_piece_comes_in_order(client: docker.DockerClient) -> None:
    assert list(follow(client, lambda: iter(range(1000)), lambda: None)) == list(range(1000))
    assert client.api.hooks["response"] == [], "nothing is left behind in the client"


def test_pieces_before_an_error_come_first(client: docker.DockerClient) -> None:
    def start() -> Iterator[int]:
        yield 1
        yield 2
        raise ConnectionError("the engine went away")

    following = follow(client, start, lambda: None)
    assert [next(following), next(following)] == [1, 2]
    with pytest.raises(ConnectionError, match="went away"):
        next(following)


def test_a_cancel_cuts_the_connection_of_a_step_that_writes_nothing() -> None:
    cut = threading.Event()
    answered = threading.Event()

    def serve(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with connection:
            connection.recv(65536)
            connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n")
            answered.set()
            connection.settimeout(DEADLINE)
            if connection.recv(1) == b"":
                cut.set()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=serve, args=(listener,), daemon=True).start()
        address = f"127.0.0.1:{listener.getsockname()[1]}"
        client = docker.DockerClient(base_url=f"tcp://{address}", version="1.41")

        def start() -> Iterator[bytes]:
            answer: Iterator[bytes] = client.api.get(f"http://{address}/", stream=True).iter_content(1)
            return answer

        def check() -> None:
            if seen:
                raise Cancelled

        seen: list[bytes] = []
        following = follow(client, start, check)
        seen.append(next(following))
        with pytest.raises(Cancelled):
            next(following)
        assert cut.wait(DEADLINE), "the engine still sees a client that waits"
        client.close()
    assert answered.is_set()
