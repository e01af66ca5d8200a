"""The port that a server listens on, and what it says when that one cannot be had."""

from __future__ import annotations

import os
import socket

import pytest

from runyard.server.sockets import CannotListen, address, listen

HOST = "127.0.0.1"


def test_the_port_of_the_last_time_is_taken_again() -> None:
    with listen(HOST, 0, None) as first:
        port = first.getsockname()[1]
    with listen(HOST, None, port) as again:
        assert again.getsockname()[1] == port


def test_a_port_that_is_taken_meanwhile_gives_way_to_another() -> None:
    with listen(HOST, 0, None) as holder, listen(HOST, None, holder.getsockname()[1]) as other:
        assert other.getsockname()[1] != holder.getsockname()[1]
        with socket.create_connection(other.getsockname(), timeout=10):
            pass


def test_a_port_that_was_asked_for_is_refused_with_its_holder() -> None:
    with listen(HOST, 0, None) as holder:
        port = holder.getsockname()[1]
        with pytest.raises(CannotListen, match=rf"Port {port} on {HOST} is in use by .* \(process {os.getpid()}\)"):
            listen(HOST, port, None)


@pytest.mark.skipif(not hasattr(socket, "TCP_KEEPIDLE"), reason="this system does not say how it probes connections")
def test_the_system_notices_who_is_gone_from_a_connection() -> None:
    """A silent run on a node that lost its network would count as alive until its next heartbeat."""
    with listen(HOST, 0, None) as listener, socket.create_connection(listener.getsockname(), timeout=10):
        accepted, _ = listener.accept()
        with accepted:
            assert accepted.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
            waits, every, times = (
                accepted.getsockopt(socket.IPPROTO_TCP, name)
                for name in (socket.TCP_KEEPIDLE, socket.TCP_KEEPINTVL, socket.TCP_KEEPCNT)
            )
            assert waits + every * times <= 60


@pytest.mark.parametrize("host", ["192.0.2.77", "no-such-host.invalid"])
def test_an_address_of_another_machine_is_refused(host: str) -> None:
    with pytest.raises(CannotListen, match="is not an address of this machine"):
        listen(host, 0, None)


def test_the_address_that_others_are_given() -> None:
    assert address(HOST, 80) == "http://127.0.0.1:80"
    assert address("::1", 80) == "http://[::1]:80"
    assert "0.0.0.0" not in address("0.0.0.0", 80)  # nobody can connect to that
