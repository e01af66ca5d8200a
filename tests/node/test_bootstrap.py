"""If these fail, a node that does not share the server's disk cannot take part in a run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tests.node.conftest import RunOnServer

from runyard.contracts.compute import Resources
from runyard.contracts.distribution import Distribution
from runyard.contracts.plan import Launch, Plan
from runyard.engines import base
from runyard.engines.folders import RunFolders
from runyard.engines.hand_over import WITNESS, hand_over
from runyard.engines.sdk_folder import sdk_folder

if TYPE_CHECKING:
    from tests.node.conftest import Server

Until = Callable[[Callable[[], object], str], None]

DEADLINE = 120.0

SCRIPT = "echo rank $RANK of $WORLD_SIZE; mkdir -p outputs; echo from $RANK > outputs/$RANK.txt"


def plan_of(server: Server, launch: Launch | None = None) -> Plan:
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
        launch=launch or Launch(command=SCRIPT, distribution=Distribution(nodes=2, processes=2).as_dict()),
        server_file=str(server.home / "server.json"),
        objects=str(server.home / "objects"),
        sdk=str(sdk_folder(server.home)),
        link="a secret of this gang",
    )


@contextmanager
def started(server: Server, plans: Sequence[Plan], disks: Sequence[Path]) -> Iterator[list[subprocess.Popen[bytes]]]:
    """The nodes of a run, each with a disk of its own, that do not see the server's."""
    folders = RunFolders(server.home / "runs")
    parcel = hand_over(base.Gang(list(plans), None, Resources()), folders)
    (folders.of(plans[0].run_id) / WITNESS).write_text("not the word of this gang")
    around = {"PATH": os.environ["PATH"], "HOME": str(disks[0].parent), **parcel.environment}
    nodes = [
        subprocess.Popen(
            [sys.executable, *parcel.arguments, str(plan.node)], env={**around, "RUNYARD_NODE_HOME": str(disk)}
        )
        for plan, disk in zip(plans, disks, strict=True)
    ]
    try:
        yield nodes
    finally:
        for node in nodes:
            node.kill()
            node.wait()
        folders.clear(plans[0].run_id)


def test_nodes_with_disks_of_their_own_fetch_all_they_need(shared_server: Server, tmp_path: Path) -> None:
    plan = plan_of(shared_server)
    disks = [tmp_path / "disk-0", tmp_path / "disk-1"]
    with started(shared_server, [plan, replace(plan, node=1)], disks) as nodes:
        assert [node.wait(DEADLINE) for node in nodes] == [0, 0]
    client = shared_server.client
    assert client.get(f"/api/runs/{plan.run_id}")["status"] == "Completed"
    stored = {each["name"] for each in client.get(f"/api/runs/{plan.run_id}/files")["files"]}
    assert {"user_logs/std_log_process_0.txt", "user_logs/std_log_process_1.txt"} <= stored
    assert {"outputs/0.txt", "outputs/1.txt"} <= stored  # the nodes see each other's folders, though not the server's
    for disk in disks:
        assert not list((disk / "nodes" / "runs").iterdir())


def test_what_a_killed_runner_left_on_its_node_is_delivered_by_the_next_one_there(
    shared_server: Server, tmp_path: Path, until: Until
) -> None:
    disk, flag = tmp_path / "disk", tmp_path / "flag"
    waits = f"echo begun; while [ ! -e {flag} ]; do sleep 0.05; done; mkdir -p outputs; touch outputs/x; echo at last"
    first = plan_of(shared_server, Launch(command=waits))
    with started(shared_server, [first], [disk]) as (node,):
        log = disk / "nodes" / "runs" / first.run_id / "streams" / "std_log.txt"
        until(lambda: log.exists() and b"begun" in log.read_bytes(), "the script to begin")
        node.send_signal(signal.SIGSTOP)  # so that it cannot deliver any more
        flag.touch()
        until(lambda: b"at last" in log.read_bytes(), "the script to end")
    assert log.exists()
    with started(shared_server, [plan_of(shared_server, Launch(command="true"))], [disk]) as (node,):
        assert node.wait(DEADLINE) == 0
    run = RunOnServer(shared_server, first.run_id, first.token)
    assert run.read("user_logs/std_log.txt") == b"begun\nat last\n"
    assert run.read("outputs/x") == b""
    assert run.get()["status"] == "Failed"
    assert not list((disk / "nodes" / "runs").iterdir())
