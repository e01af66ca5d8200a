from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from runyard.node.gang import link
from runyard.node.gang.link import Link, LinkLost, Stranger, join, own_address, welcome
from runyard.node.problem import RunProblem

WAIT = 60.0


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as found:
        found.settimeout(WAIT)
        yield found


def place(listener: socket.socket) -> str:
    return f"127.0.0.1:{listener.getsockname()[1]}"


def pair(listener: socket.socket, leaders: str = "secret", followers: str = "secret") -> tuple[Link, Link]:
    with ThreadPoolExecutor(1) as pool:
        joining = pool.submit(join, place(listener), followers, 3)
        try:
            leader = welcome(listener.accept()[0], leaders)
        finally:
            follower = joining.result(WAIT)
    return leader, follower


def test_messages_go_both_ways(listener: socket.socket) -> None:
    leader, follower = pair(listener)
    with closing(leader), closing(follower):
        assert leader.node == 3
        leader.beat()
        leader.send("go", meeting={"port": 1})
        follower.send("hello", host="ä")
        assert follower.receive()["meeting"] == {"port": 1}
        assert leader.receive()["host"] == "ä"


def test_a_follower_with_another_secret_is_a_stranger(listener: socket.socket) -> None:
    with ThreadPoolExecutor(1) as pool:
        joining = pool.submit(join, place(listener), "other", 1)
        connection = listener.accept()[0]
        with connection, pytest.raises(Stranger, match="does not know the secret"):
            welcome(connection, "secret")
        with pytest.raises(LinkLost):
            joining.result(WAIT)


def test_a_leader_that_cannot_prove_itself_is_a_stranger(listener: socket.socket) -> None:
    def pretend() -> None:
        connection = listener.accept()[0]
        with connection:
            connection.sendall(b'{"drawn": "1"}\n')
            connection.makefile("rb").readline()
            connection.sendall(b'{"proof": "0"}\n')

    threading.Thread(target=pretend, daemon=True).start()
    with pytest.raises(Stranger, match="does not know the secret"):
        join(place(listener), "secret", 1)


@pytest.mark.parametrize("text", [b"GET / HTTP/1.1\r\n\r\n", b"[1]\n", b'{"node": "x"}\n', b"\xff\n"])
def test_what_is_no_node_runner_is_a_stranger(listener: socket.socket, text: bytes) -> None:
    with socket.create_connection(listener.getsockname()) as other:
        other.sendall(text)
        connection = listener.accept()[0]
        with connection, pytest.raises(Stranger):
            welcome(connection, "secret")


def test_a_line_that_is_added_or_sent_again_ends_the_link(listener: socket.socket) -> None:
    leader, follower = pair(listener)
    with closing(leader), closing(follower):
        follower._connection.sendall(b'0 {"say": "stop_asked", "at": 0}\n')
        with pytest.raises(LinkLost, match="not signed"):
            leader.receive()


def test_a_connection_that_closes_is_lost(listener: socket.socket) -> None:
    leader, follower = pair(listener)
    with closing(leader):
        follower.close()
        with pytest.raises(LinkLost, match="the connection to it"):
            leader.receive()
        leader.send("end")  # it raises nothing: `receive` has raised it
        leader.send("end")


def test_silence_is_a_loss(listener: socket.socket, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link, "SILENCE", 0.2)
    leader, follower = pair(listener)
    with closing(leader), closing(follower), pytest.raises(LinkLost, match="nothing was heard"):
        leader.receive()


def test_nobody_at_the_place() -> None:
    with socket.create_server(("127.0.0.1", 0)) as found:
        nowhere = place(found)
    with pytest.raises(LinkLost, match="cannot be reached"):
        join(nowhere, "secret", 1)


def test_no_secret_is_no_link(listener: socket.socket) -> None:
    with socket.create_connection(listener.getsockname()) as other:
        other.sendall(b'{"node": 1, "drawn": "1", "proof": ""}\n')
        connection = listener.accept()[0]
        with connection, pytest.raises(RunProblem, match="secret"):
            welcome(connection, "")


def test_the_own_address_is_the_one_that_the_server_is_reached_from() -> None:
    assert own_address("http://127.0.0.1:7420") == "127.0.0.1"


def test_no_way_to_the_server() -> None:
    with pytest.raises(RunProblem, match="no way from it to the server"):
        own_address("http://no-such-host.invalid:7420")
