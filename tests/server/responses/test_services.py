"""The address of a service, as its callers write it."""

from __future__ import annotations

import socket

from tests.scheduler.services.test_decision import service, version

from runyard.server.responses.services import base_address


def test_loopback_is_called_localhost_and_all_addresses_by_the_machines_name() -> None:
    assert base_address(service(version(1, 1))) == "http://localhost:1"
    assert base_address(service(version(1, 1), host="0.0.0.0")) == f"http://{socket.gethostname()}:1"
    assert base_address(service(version(1, 1), host="fe80::1")) == "http://[fe80::1]:1"
