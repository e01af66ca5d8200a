"""If these fail, a gang in a Ray cluster could go on for ever in the eyes of the server, with its nodes in its hands.

The keeper is tried outside of its actor, in a driver on a real cluster, where a test can make one call of Ray fail.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.support.ray_cluster import RayCluster

from runyard.engines.ray import tether

pytestmark = pytest.mark.xdist_group("ray")

DEADLINE = 240.0

SCRIPT = """
import asyncio, json, sys
from pathlib import Path
folder, address, tether, nodes, command = sys.argv[1:]
sys.path.insert(0, folder)
import ray
import driver, internals, keeper, node_task, reasons
for module in map(sys.modules.get, driver.SENT):
    ray.cloudpickle.register_pickle_by_value(module)
really, asked = keeper.remove_placement_group, []

def remove(group):
    asked.append(group)
    if len(asked) <= 2:
        raise ray.exceptions.RpcError("the head is busy")
    really(group)

keeper.remove_placement_group = remove
keeper.POLL = 0.2

async def lead():
    kept = keeper.Keeper(Path(tether).read_text(), internals.Internals())
    spec = {"nodes": int(nodes), "bundle": {"CPU": 1.0}, "grows": False, "wish": "nodes", "python": sys.executable,
            "arguments": ["-c", command], "environment": {}, "patience": 60.0}
    await kept.start("gang", spec)
    since, gang = 0, {"state": ""}
    if int(nodes) > 50:  # more than there are: it waits, until it is stopped
        while gang["state"] != "waits":
            since, changed = await kept.changes(since, 5.0)
            gang = changed[-1] if changed else gang
        await kept.stop("gang")
    while gang["state"] != "ended":
        since, changed = await kept.changes(since, 5.0)
        gang = changed[-1] if changed else gang
    while kept._releasing:
        await asyncio.wait(set(kept._releasing))
    left = [group for group in ray.util.placement_group_table().values() if group["name"] == "gang"]
    print(json.dumps({**gang, "asked": len(asked), "groups": [group["state"] for group in left]}))

ray.init(address, logging_level="ERROR", log_to_driver=False)
asyncio.run(asyncio.wait_for(lead(), 200))
"""


def led(cluster: RayCluster, command: str, nodes: int = 1) -> dict[str, Any]:
    """What becomes of a gang whose group Ray cannot remove at first."""
    cluster.settle()
    folder = str(Path(tether.__file__).parent)
    done = subprocess.run(
        [str(cluster.python), "-c", SCRIPT, folder, cluster.address, tether.__file__, str(nodes), command],
        env={**os.environ, **cluster.variables},
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told


def test_a_gang_ends_though_its_nodes_cannot_be_given_back_yet(ray_cluster: RayCluster) -> None:
    told = led(ray_cluster, "raise SystemExit(3)")
    assert (told["how"], told["taken"]) == ("exit code 3", False)
    assert told["asked"] == 3
    assert set(told["groups"]) == {"REMOVED"}


def test_a_gang_that_waits_is_stopped_though_its_group_cannot_be_removed_yet(ray_cluster: RayCluster) -> None:
    told = led(ray_cluster, "pass", nodes=51)
    assert told["how"] == "it was taken out of the queue"
    assert set(told["groups"]) == {"REMOVED"}


def test_a_runner_that_a_real_time_signal_ended_is_told_of(ray_cluster: RayCluster) -> None:
    assert led(ray_cluster, "import os; os.kill(os.getpid(), 40)")["how"] == "killed by signal 40"
