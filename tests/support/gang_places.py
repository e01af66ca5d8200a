"""The three places where the same stories are told: this machine, a Ray cluster, a Slurm cluster. All of it is real."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from tests.support import power

from azureml.core import Run, Workspace
from azureml.core.compute import AmlCompute, ComputeTarget, RayCompute, SlurmCompute

if TYPE_CHECKING:
    from tests.support.gang_yard import GangYard
    from tests.support.ray_cluster import RayCluster
    from tests.support.slurm_cluster import SlurmCluster


class Place(ABC):
    """A compute target of one engine, and how to take a node away from it."""

    name: str
    nodes: int

    @abstractmethod
    def make(self, workspace: Workspace) -> ComputeTarget:
        """Make the target, as a user does."""

    @abstractmethod
    def kill_node(self, yard: GangYard, run: Run, node: int) -> None:
        """Take a node of a run away, with all that runs on it, as a power cut would."""

    @abstractmethod
    def heal(self) -> None:
        """Bring back what was taken away."""


class ThisMachine(Place):
    name, nodes = "cpu-cluster", 4

    def make(self, workspace: Workspace) -> ComputeTarget:
        config = AmlCompute.provisioning_configuration(vm_size="STANDARD_D2_V2", max_nodes=self.nodes)
        target = ComputeTarget.create(workspace, self.name, config)
        target.wait_for_completion(show_output=False)
        return target

    def kill_node(self, yard: GangYard, run: Run, node: int) -> None:
        power.cut([yard.runner(run, node)])

    def heal(self) -> None:
        """Its nodes are places on this machine: there is always another."""


class OnRay(Place):
    name = "ray-cluster"

    def __init__(self, cluster: RayCluster) -> None:
        self.cluster, self.nodes = cluster, len(cluster.nodes)

    def make(self, workspace: Workspace) -> ComputeTarget:
        # A size with all cores of a node: no two runs share one, as in the other places.
        config = RayCompute.attach_configuration(**self.cluster.options(), vm_size="STANDARD_F4")
        return ComputeTarget.attach(workspace, self.name, config)

    def kill_node(self, yard: GangYard, run: Run, node: int) -> None:
        self.cluster.node_of(yard.runner(run, node)).kill()

    def heal(self) -> None:
        self.cluster.settle()


class OnSlurm(Place):
    name = "slurm-cluster"

    def __init__(self, cluster: SlurmCluster) -> None:
        self.cluster, self.nodes = cluster, len(cluster.nodes)

    def make(self, workspace: Workspace) -> ComputeTarget:
        config = SlurmCompute.attach_configuration(partition="main", conf=str(self.cluster.conf), exclusive=True)
        return ComputeTarget.attach(workspace, self.name, config)

    def kill_node(self, yard: GangYard, run: Run, node: int) -> None:
        self.cluster.kill_node(yard.runner(run, node).environ()["SLURMD_NODENAME"])

    def heal(self) -> None:
        self.cluster.settle()
