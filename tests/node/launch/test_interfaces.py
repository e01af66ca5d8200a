"""Interfaces are found by their address, where the system can list them."""

from __future__ import annotations

import sys

import pytest

from runyard.node.launch import interfaces

linux = pytest.mark.skipif(sys.platform != "linux", reason="addresses are listed on Linux only")


@linux
def test_loopback_is_found_by_its_address() -> None:
    assert interfaces.of_address("127.0.0.1") == interfaces.loopback() == "lo"


@linux
def test_an_address_of_another_machine_has_no_interface_here() -> None:
    assert interfaces.of_address("203.0.113.77") is None


@linux
@pytest.mark.parametrize(("addresses", "beyond"), [(["127.0.0.1"], False), (["127.0.0.1", "10.0.0.5"], True)])
def test_a_machine_with_loopback_alone(monkeypatch: pytest.MonkeyPatch, addresses: list[str], beyond: bool) -> None:
    monkeypatch.setattr(interfaces, "_addresses", lambda: [(f"if{n}", each) for n, each in enumerate(addresses)])
    assert interfaces.beyond_loopback() == beyond
