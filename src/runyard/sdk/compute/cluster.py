"""`RayCompute` and `SlurmCompute`: existing clusters, which do their own scaling and queueing."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any, ClassVar, Mapping

from runyard.contracts import engine_options
from runyard.contracts.compute import DEDICATED, RAY, SLURM, Target
from runyard.sdk.compute.arguments import whole_number
from runyard.sdk.compute.configuration import (
    ComputeTargetAttachConfiguration,
    checked_priority,
    filled,
)
from runyard.sdk.compute.pooled import PooledCompute
from runyard.sdk.exceptions import ComputeTargetException

if TYPE_CHECKING:
    from runyard.contracts.documents import ComputeDocument
    from runyard.sdk.workspace.workspace import Workspace


class ClusterAttachConfiguration(ComputeTargetAttachConfiguration):
    """An engine, its options, and the limits for runs on the cluster."""

    def __init__(
        self,
        type: builtins.type[ClusterCompute],
        options: Mapping[str, Any],
        vm_size: str = "",
        vm_priority: str = DEDICATED,
        max_nodes: int | None = None,
        tags: Mapping[str, str] | None = None,
        description: str | None = None,
    ) -> None:
        super().__init__(type)
        self.engine, self.kind = type._engine, type._compute_type
        self.options = {name: value for name, value in options.items() if value is not None}
        self.vm_size = vm_size
        self.vm_priority = vm_priority
        self.max_nodes = max_nodes
        self.tags = tags
        self.description = description
        self.validate_configuration()

    def validate_configuration(self) -> None:
        """Raise ComputeTargetException for errors that can be detected without contacting the cluster."""
        checked_priority(self.vm_priority)
        if self.max_nodes is not None:
            self.max_nodes = whole_number("max_nodes", self.max_nodes)
        self._checked_options()

    def _checked_options(self) -> dict[str, Any]:
        try:
            return engine_options.check(self.engine, self.options)
        except engine_options.BadOptions as problem:
            raise ComputeTargetException(str(problem), inner_exception=problem) from None

    def _target(self, name: str) -> Target:
        return Target(
            name=name,
            engine=self.engine,
            type=self.kind,
            vm_size=self.vm_size or "",
            vm_priority=checked_priority(self.vm_priority),
            max_nodes=self.max_nodes,
            options=self._checked_options(),
            details=filled(tags=dict(self.tags or {}), description=self.description),
        )


class ClusterCompute(PooledCompute):
    """A cluster that is attached. Its nodes, states and counts are shown like those of an AmlCompute; `delete` and
    `detach` take it out of the workspace, and leave the cluster as it is."""

    _engine: ClassVar[str]

    options: dict[str, Any]

    def _take(self, workspace: Workspace, document: ComputeDocument) -> None:
        super()._take(workspace, document)
        self.options = dict(document["options"])
        self.is_attached = True


class RayCompute(ClusterCompute):
    """A Ray cluster."""

    _compute_type = "Ray"
    _engine = RAY

    @staticmethod
    def attach_configuration(
        address: str,
        namespace: str | None = None,
        resources: Mapping[str, float] | None = None,
        autoscaling: bool | None = None,
        ray_python: str | None = None,
        token_file: str | None = None,
        python: str | None = None,
        vm_size: str = "",
        vm_priority: str = DEDICATED,
        max_nodes: int | None = None,
        tags: Mapping[str, str] | None = None,
        description: str | None = None,
    ) -> ClusterAttachConfiguration:
        """A Ray cluster by the address of its head. The resources of `vm_size` are requested for each node of a run.

        >>> RayCompute.attach_configuration(address="10.0.0.1:6379", vm_size="STANDARD_NC6").options
        {'address': '10.0.0.1:6379'}
        """
        options = {
            "address": address,
            "namespace": namespace,
            "resources": dict(resources) if resources else None,
            "autoscaling": autoscaling,
            "ray_python": ray_python,
            "token_file": token_file,
            "python": python,
        }
        return ClusterAttachConfiguration(RayCompute, options, vm_size, vm_priority, max_nodes, tags, description)


class SlurmCompute(ClusterCompute):
    """A Slurm cluster, or a partition of one."""

    _compute_type = "Slurm"
    _engine = SLURM

    @staticmethod
    def attach_configuration(
        partition: str | None = None,
        account: str | None = None,
        qos: str | None = None,
        constraint: str | None = None,
        gres: str | None = None,
        time: str | None = None,
        commands: str | None = None,
        conf: str | None = None,
        python: str | None = None,
        vm_size: str = "",
        vm_priority: str = DEDICATED,
        max_nodes: int | None = None,
        tags: Mapping[str, str] | None = None,
        description: str | None = None,
        exclusive: bool | None = None,
        sbatch: str | None = None,
        time_margin: int | None = None,
    ) -> ClusterAttachConfiguration:
        """A Slurm cluster whose commands (sbatch, squeue, ...) work on the machine of the server.

        >>> SlurmCompute.attach_configuration(partition="gpu", account="physics").options
        {'partition': 'gpu', 'account': 'physics'}
        """
        options = {
            "partition": partition,
            "account": account,
            "qos": qos,
            "constraint": constraint,
            "gres": gres,
            "time": time,
            "commands": commands,
            "conf": conf,
            "python": python,
            "exclusive": exclusive,
            "sbatch": sbatch,
            "time_margin": time_margin,
        }
        return ClusterAttachConfiguration(SlurmCompute, options, vm_size, vm_priority, max_nodes, tags, description)
