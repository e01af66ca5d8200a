"""If these fail, a node that does not share the server's disk cannot take part in a run."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from runyard.contracts.compute import Resources
from runyard.contracts.distribution import Distribution
from runyard.contracts.plan import Launch, Plan
from runyard.engines import base
from runyard.engines.folders import RunFolders
from runyard.engines.hand_over import WITNESS, hand_over
from runyard.engines.sdk_folder import sdk_folder

if TYPE_CHECKING:
    from tests.node.conftest import Server

DEADLINE = 120.0

SCRIPT = "echo rank $RANK of $WORLD_SIZE; mkdir -p outputs; echo from $RANK > outputs/$RANK.txt"


def plan_of(server: Server) -> Plan:
    run = server.make_run()
    return Plan(
        run_id=run.id,
        root_run_id=run.id,
        experiment="trial",
        experiment_id="e",
        workspace="local",
        subscription_id="s",
        resource_group="g",
        target="cluster",
        token=run.token,
        server_url=server.client.url,
        launch=Launch(command=SCRIPT, distribution=Distribution(nodes=2, processes=2).as_dict()),
        server_file=str(server.home / "server.json"),
        objects=str(server.home / "objects"),
        sdk=str(sdk_folder(server.home)),
        link="a secret of this gang",
    )


def test_nodes_with_disks_of_their_own_fetch_all_they_need(shared_server: Server, tmp_path: Path) -> None:
    plan = plan_of(shared_server)
    folders = RunFolders(shared_server.home / "runs")
    parcel = hand_over(base.Gang([plan, replace(plan, node=1)], None, Resources()), folders)
    (folders.of(plan.run_id) / WITNESS).write_text("not the word of this gang")
    around = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), **parcel.environment}
    nodes = [
        subprocess.Popen(
            [sys.executable, *parcel.arguments, str(number)],
            env={**around, "RUNYARD_NODE_HOME": str(tmp_path / f"disk-{number}")},
        )
        for number in range(2)
    ]
    try:
        assert [node.wait(DEADLINE) for node in nodes] == [0, 0]
    finally:
        for node in nodes:
            node.kill()
            node.wait()
    folders.clear(plan.run_id)
    client = shared_server.client
    assert client.get(f"/api/runs/{plan.run_id}")["status"] == "Completed"
    kept = {each["name"] for each in client.get(f"/api/runs/{plan.run_id}/files")["files"]}
    assert {"user_logs/std_log_process_0.txt", "user_logs/std_log_process_1.txt"} <= kept
    assert {"outputs/0.txt", "outputs/1.txt"} <= kept  # the nodes see each other's folders, though not the server's
    for number in range(2):
        assert not list((tmp_path / f"disk-{number}" / "nodes" / "runs").iterdir())
