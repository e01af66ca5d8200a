"""Compute targets: where runs can be executed. A target belongs to a workspace; `local` always exists.

A target is a pool of nodes behind an engine. On this machine the pool is ours: nodes are places for node runners,
which come and go between `min_nodes` and `max_nodes`. On Ray and Slurm the cluster has the nodes, and scales itself.
"""

from __future__ import annotations

from typing import Any, Mapping

from runyard.system.records import asdict, field, fields, record

LOCAL = "local"
"""The name of the target that always exists: the machine that the server runs on."""

LOCAL_ENGINE, RAY, SLURM = "local", "ray", "slurm"

DEDICATED, LOW_PRIORITY = "dedicated", "lowpriority"
RESTARTS = 3
"""How often a run is restarted automatically, by default."""

IDLE, PREPARING, RUNNING, LEAVING, UNUSABLE, PREEMPTED = (
    *("idle", "preparing", "running", "leaving", "unusable", "preempted"),
)
NODE_STATES = (IDLE, PREPARING, RUNNING, LEAVING, UNUSABLE, PREEMPTED)

STEADY, RESIZING = "Steady", "Resizing"


@record(frozen=True)
class Resources:
    """What one node of a run must offer. 0: no requirement."""

    cores: int = 0
    memory_mb: int = 0
    gpus: int = 0


@record(frozen=True)
class Target:
    """A compute target as it is stored."""

    name: str
    engine: str = LOCAL_ENGINE
    type: str = "AmlCompute"  # what SDK v1 calls it: AmlCompute, ComputeInstance, Ray, Slurm, ...
    vm_size: str = ""
    vm_priority: str = DEDICATED
    min_nodes: int = 0
    max_nodes: int | None = None  # None: as many as the engine has
    idle_seconds: int = 1800
    options: dict[str, Any] = field(default_factory=dict)  # of the engine: an address, a partition, an account, ...
    details: dict[str, Any] = field(default_factory=dict)  # what SDK v1 shows and nothing here acts on: tags, ...
    created_at: str = ""
    modified_at: str = ""

    @property
    def low_priority(self) -> bool:
        return self.vm_priority == LOW_PRIORITY

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_dict(document: Mapping[str, Any]) -> Target:
        return Target(**{each.name: document[each.name] for each in fields(Target) if each.name in document})


@record(frozen=True)
class Node:
    """One node of a target, as `list_nodes` shows it."""

    name: str
    state: str
    run_id: str | None = None
    address: str = ""


@record(frozen=True)
class Status:
    """The state of a target at this moment."""

    allocation_state: str = STEADY
    current_nodes: int = 0
    target_nodes: int = 0
    counts: dict[str, int] = field(default_factory=dict)  # by node state; every state is there
    errors: list[dict[str, str]] = field(default_factory=list)  # {"code", "message"}: why the engine cannot be used
    changed_at: str = ""  # when `allocation_state` was last another one

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)
