"""If these fail, connections are lost when a worker or a revision of a service is replaced."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from runyard.serving.listener import CannotListen, Offer, ask, bind, obtain

_PEER = """
import sys
from runyard.serving.listener import obtain
listening, offer = obtain(sys.argv[1], "127.0.0.1", 0)
offer.in_thread()
print(listening.getsockname()[1], flush=True)
sys.stdin.read()
"""


@pytest.fixture
def peer(tmp_path: Path) -> object:
    def start(place: Path) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-c", _PEER, str(place)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    return start


@pytest.mark.parametrize("depth", [1, 30])  # the name of a Unix socket holds a hundred bytes
def test_the_socket_outlives_the_process_that_bound_it(tmp_path: Path, peer: object, depth: int) -> None:
    place = tmp_path.joinpath(*["folder"] * depth) / "listener"
    with peer(place) as first:  # type: ignore[operator]
        port = int(first.stdout.readline())
        client = socket.create_connection(("127.0.0.1", port))  # waits in the kernel
        listening, offer = obtain(str(place), "127.0.0.1", port)
        first.kill()
        first.wait()
    assert offer is not None
    assert listening.getsockname()[1] == port
    taken, address = listening.accept()
    assert address == client.getsockname()
    for each in (taken, client):
        each.close()
    again = ask(str(place))  # the killed one's offer is passed over, and this process's own is not asked
    assert again is None
    assert sorted(os.listdir(place.parent)) == [f"listener.{os.getpid()}", "listener.lock"]
    offer.close()
    listening.close()


def test_whoever_comes_first_binds_and_the_others_get_it(tmp_path: Path, peer: object) -> None:
    place = tmp_path / "listener"
    peers = [peer(place) for _ in range(4)]  # type: ignore[operator]
    ports = {int(each.stdout.readline()) for each in peers}
    for each in peers:
        each.communicate()
    assert len(ports) == 1


def test_another_port_is_another_socket(tmp_path: Path) -> None:
    place = str(tmp_path / "listener")
    listening = bind("127.0.0.1", 0)
    offer = Offer(place, listening)
    offer.close()
    assert ask(place) is None
    free = bind("127.0.0.1", 0)
    port = free.getsockname()[1]
    with pytest.raises(CannotListen, match=f"Port {port} .* taken"):
        obtain(place, "127.0.0.1", port)
    free.close()
    found, own = obtain(place, "127.0.0.1", port)
    assert found.getsockname()[1] == port
    assert own is not None
    own.close()
    found.close()
    listening.close()


def test_an_address_that_is_not_this_machines_is_told() -> None:
    with pytest.raises(CannotListen, match=r"192\.0\.2\.1"):
        bind("192.0.2.1", 0)
