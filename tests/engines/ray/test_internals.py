"""What is taken from Ray's private modules, asked of a real cluster: a new Ray that has others fails here."""

from __future__ import annotations

import json
import os
import subprocess

import pytest
from tests.support.ray_cluster import CORES, NODES, RayCluster

from runyard.engines.ray import engine

pytestmark = pytest.mark.xdist_group("ray")

ASK = """
import json, runpy, sys
import ray
file, address = sys.argv[1:]
ray.init(address, logging_level="ERROR", log_to_driver=False)
internals = runpy.run_path(file)["Internals"]()
print(json.dumps([internals.nodes(), internals.draining(), sorted(internals.refused())]))
"""


def test_nodes_are_listed_with_what_they_have(ray_cluster: RayCluster) -> None:
    ray_cluster.settle()
    file = os.path.join(os.path.dirname(engine.__file__), "internals.py")
    command = [str(ray_cluster.python), "-c", ASK, file, ray_cluster.address]
    answer = subprocess.check_output(command, env={**os.environ, **ray_cluster.variables}, text=True, timeout=240)
    nodes, draining, refused = json.loads(answer.splitlines()[-1])
    workers = [node for node in nodes if node["has"].get("CPU")]  # the head has none
    assert {node["address"] for node in workers} >= {node.address for node in ray_cluster.nodes}
    assert len([node for node in workers if not node["leaving"]]) == NODES
    assert {node["has"]["CPU"] for node in workers} == {CORES}
    assert all(node["free"]["CPU"] <= CORES for node in workers)
    assert set(draining) == {node["id"] for node in nodes if node["leaving"]}
    assert refused == []
