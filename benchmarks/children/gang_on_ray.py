"""What a user of Ray submits with `ray job submit` to get a gang of 2×2: a driver with a placement group and tasks.

gang_on_ray.py SCRIPT KIND FILE
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from typing import Any

import ray
from ray.util.placement_group import placement_group
from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy


def place() -> tuple[str, int]:
    with socket.socket() as probe:
        probe.bind(("", 0))
        return ray.util.get_node_ip_address(), int(probe.getsockname()[1])


def rank(number: int, address: str, port: int, command: list[str]) -> None:
    told = {"RANK": str(number), "WORLD_SIZE": "4", "MASTER_ADDR": address, "MASTER_PORT": str(port)}
    subprocess.run(command, env={**os.environ, **told}, check=True)


def main(script: str, kind: str, path: str) -> None:
    ray.init()
    group = placement_group([{"CPU": 2}] * 2, strategy="STRICT_SPREAD")
    ray.get(group.ready())

    def on(node: int) -> dict[str, Any]:
        where = PlacementGroupSchedulingStrategy(group, placement_group_bundle_index=node)
        return {"num_cpus": 1, "scheduling_strategy": where}

    address, port = ray.get(ray.remote(place).options(**on(0)).remote())
    command, ranks = [sys.executable, script, kind, path], ray.remote(rank)
    ray.get([ranks.options(**on(each // 2)).remote(each, address, port, command) for each in range(4)])


if __name__ == "__main__":
    main(*sys.argv[1:])
