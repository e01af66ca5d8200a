"""If these fail, a Ray cluster is asked for other nodes than a run needs, or at another address."""

from __future__ import annotations

import socket

import pytest

from runyard.contracts.compute import Resources
from runyard.engines.base import EngineAway, EngineError
from runyard.engines.ray.request import Address, Seen, able, bundle_of, inventory, wish


def test_addresses() -> None:
    assert str(Address.parse("head")) == "head:6379"
    assert str(Address.parse("ray://head")) == "ray://head:10001"
    assert str(Address.parse("[::1]:7000")) == "[::1]:7000"
    with pytest.raises(EngineError, match="ray://HOST:10001 when it is not"):
        Address.parse("http://head:8265/jobs")


def test_a_node_asks_for_a_cpu_at_least_and_for_what_vm_size_stands_for() -> None:
    assert bundle_of(Resources(), {}) == {"CPU": 1.0}
    asked = bundle_of(Resources(cores=6, memory_mb=1000, gpus=1), {"special": 0.5})
    assert asked == {"CPU": 6.0, "GPU": 1.0, "memory": 600.0 * 2**20, "special": 0.5}
    assert wish(1, asked) == "1 node with 6 CPUs, 1 GPU, 1 GiB of memory and 0.5 of special"


def test_nodes_are_told_apart_by_what_they_have() -> None:
    nodes: list[Seen] = [{"has": {"CPU": 4.0}}, {"has": {"CPU": 4.0}}, {"has": {"CPU": 8.0, "GPU": 1.0}}, {"has": {}}]
    assert able(nodes, {"CPU": 4.0, "GPU": 1.0}) == [nodes[2]]
    assert inventory(nodes) == "It has 2 with 4 CPUs; 1 with 8 CPUs and 1 GPU; 1 with 0 CPUs."
    assert inventory([]) == "It has no nodes now."


def test_a_port_where_nobody_listens_is_found_out_at_once() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = Address("127.0.0.1", listener.getsockname()[1])
        address.probe()
    with pytest.raises(EngineAway, match="nobody listens there"):
        address.probe()
