"""Gangs on a Ray cluster that scales itself: it begins with no node, grows for a run, loses nodes, shrinks again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.gang_fixtures import gangs, yard_on
from tests.support.gang_places import OnRay
from tests.support.gang_yard import GangYard
from tests.support.ray_autoscaler import MOST_NODES, GrowingCluster, growing

from azureml.core import Workspace
from azureml.core.compute import ComputeTarget, RayCompute
from runyard.sdk.submit.distributed import PlainConfiguration

__all__ = ["gangs"]

pytestmark = pytest.mark.xdist_group("ray")

ON_TWO_NODES = PlainConfiguration(process_count_per_node=1, node_count=2)


class OnGrowingRay(OnRay):
    def make(self, workspace: Workspace) -> ComputeTarget:
        config = RayCompute.attach_configuration(**self.cluster.options(), autoscaling=True)
        return ComputeTarget.attach(workspace, self.name, config)

    def heal(self) -> None:
        """The cluster does it by itself."""


@pytest.fixture(scope="module")
def cluster() -> Iterator[GrowingCluster]:
    with growing() as cluster:
        yield cluster


@pytest.fixture(scope="module")
def cluster_yard(cluster: GrowingCluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[GangYard]:
    with yard_on(OnGrowingRay(cluster), tmp_path_factory.mktemp("growing")) as yard:
        yield yard


def test_the_cluster_grows_for_a_run_and_shrinks_after_it(gangs: GangYard, cluster: GrowingCluster) -> None:
    gangs.wait(lambda: not cluster.look(), "the cluster to be without nodes")
    before = len(cluster.nodes)
    run = gangs.gang("import os\nprint('node', os.environ['NODE_RANK'])\n", distribution=ON_TWO_NODES)
    gangs.finish(run)
    cluster.look()
    assert len(cluster.nodes) >= before + 2  # they may be gone again by now, and one that did not start is replaced
    reasons = [state["reason"] for state in gangs.shown(run)["states"]]
    assert "waits for 2 nodes with 1 CPU; the cluster has no such nodes and is asked to grow" in reasons
    for rank in range(2):
        assert gangs.log(run, rank) == f"node {rank}\n"
    gangs.wait(lambda: not cluster.look(), "the cluster to shrink")
    assert gangs.runyard("compute", "nodes", gangs.place.name, "--json").strip() == "[]"


def test_a_run_for_which_the_cluster_cannot_grow_says_so(gangs: GangYard, cluster: GrowingCluster) -> None:
    cluster.look()
    before = len(cluster.nodes)
    too_many = PlainConfiguration(process_count_per_node=1, node_count=MOST_NODES + 1)
    run = gangs.gang("print('never')", distribution=too_many)
    gangs.wait(lambda: "its autoscaler cannot add them" in gangs.shown(run)["reason"], "the reason to be told")
    run.cancel()
    gangs.finish(run, "Canceled")
    cluster.look()
    assert len(cluster.nodes) == before, "nodes were started for nothing"


def test_a_run_saves_its_work_before_its_node_is_taken_away_and_goes_on_elsewhere(
    gangs: GangYard, cluster: GrowingCluster, tmp_path: Path
) -> None:
    script = """
        import os, signal, sys, time
        rank, attempt = os.environ['RANK'], os.environ['AZUREML_RUN_RESTART_COUNT']
        if attempt == '0':
            def save(*_):
                with open(f'outputs/{rank}.txt', 'w') as file:
                    file.write('saved by ' + rank)
                sys.exit()
            signal.signal(signal.SIGTERM, save)
            os.makedirs('outputs', exist_ok=True)
            open(f'{sys.argv[1]}.{rank}', 'w').close()
            time.sleep(600)
        print(open(f'outputs/{rank}.txt').read())
    """
    run = gangs.gang(script, tmp_path / "begun", distribution=ON_TWO_NODES)
    for rank in range(2):
        gangs.wait(Path(f"{tmp_path / 'begun'}.{rank}").exists, f"rank {rank} to begin")
    cluster.look()
    node = cluster.node_of(gangs.runner(run, 1))
    cluster.drain(node, seconds=50)
    gangs.finish(run)
    for rank in range(2):
        assert gangs.log(run, rank) == f"saved by {rank}\n"
    shown = gangs.shown(run)
    assert shown["attempt"] == 2
    reasons = [state["reason"] for state in shown["states"]]
    assert "its nodes were taken away (node 1: the cluster drains its node); attempt 2 follows" in reasons
    gangs.wait(lambda: node.gone, "the drained node to go")
