"""Ports: picked among those that are free, and refused with the name of whoever has them."""

from __future__ import annotations

import os
import socket

import pytest

from runyard.scheduler.services import ports
from runyard.store.errors import Conflict, Refused


def test_a_port_is_picked_that_nobody_has() -> None:
    picked = ports.pick("127.0.0.1", {})
    assert ports.check("127.0.0.1", picked, {}) == picked
    assert all(ports.pick("127.0.0.1", {picked: "other"}) != picked for _ in range(3))


def test_a_port_that_is_taken_is_refused_with_who_has_it() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(Conflict, match=rf"Port {port} is taken by process {os.getpid()} "):
            ports.check("127.0.0.1", port, {})
    with pytest.raises(Conflict, match="the service 'other'"):
        ports.check("127.0.0.1", port, {port: "other"})
    with pytest.raises(Refused, match="no address of this machine"):
        ports.check("192.0.2.1", port, {})
    with pytest.raises(Conflict, match="the service 'other'"):
        ports.must_be_free(port, {port: "other"})
    ports.must_be_free(port, {port + 1: "other"})
