"""The seam between the scheduler and whatever starts processes: this machine, Ray, Slurm.

An engine is as thin as possible. It starts one node runner on each of N nodes, all or none, tells when they are gone,
and stops them. It knows nothing of environments, snapshots, ranks or logs: the plans that it hands to the node runners
say all that, and the node runners of a gang look after each other.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Protocol

from runyard.contracts.compute import Node, Resources, Target
from runyard.contracts.plan import Plan

Handle = dict[str, Any]
"""What an engine needs to find a gang again after the server was restarted. JSON; opaque to others."""


class EngineError(Exception):
    """The engine could not do it, and trying again will not help; the text says why and what to do."""


class EngineAway(EngineError):
    """The engine does not answer now, but may later: the address of a cluster that is down, for example."""


@dataclass(frozen=True)
class Gang:
    """The node runners to start: one plan per node, that of node 0 first."""

    plans: list[Plan]
    manifest: bytes | None  # of the run's snapshot: an engine that can lay it beside a plan spares a request
    resources: Resources

    @property
    def run_id(self) -> str:
        return self.plans[0].run_id


class Ear(Protocol):
    """Who is told what becomes of a gang. Engines call it from any thread."""

    def waits(self, run_id: str, reason: str) -> None:
        """The cluster has the gang in its own queue, and says why."""

    def placed(self, run_id: str) -> None:
        """The gang has got its nodes: its node runners are on their way."""

    def gone(self, run_id: str, how: str, taken: bool = False) -> None:
        """No node runner of the gang is alive any more; called once. `taken`: the cluster took the nodes away."""


@dataclass(frozen=True)
class Offer:
    """What a cluster has. `most_nodes` is how many a gang can ever have; None when that cannot be known."""

    nodes: list[Node]
    most_nodes: int | None = None


class Engine(ABC):
    """Starts gangs of node runners, tells when they are gone, and asks them to stop. One engine serves one target;
    that of this machine serves all targets on it."""

    @abstractmethod
    def check(self, target: Target) -> None:
        """Raise EngineError when nothing could ever run on such a target: a partition that is not there, no node
        with that many GPUs. Raise EngineAway when the cluster does not answer."""

    @abstractmethod
    def offer(self) -> Offer:
        """The nodes that the cluster has now, whoever uses them. Quick: an answer that is seconds old will do."""

    @abstractmethod
    def start(self, gang: Gang, ear: Ear) -> Handle:
        """Have the gang started, all of it or nothing. Returns as soon as that is on its way. After EngineAway, nobody
        knows whether it is: `find` is asked before the gang is started again."""

    def promise(self, gang: Gang) -> Handle:
        """What `find` could find the gang by. Kept before `start`: the server may die before that returns."""
        return {}

    def find(self, run_id: str, promise: Handle, ear: Ear) -> Handle | None:
        """Watch a gang whose `start` was interrupted, if it came about; None when the cluster knows nothing of it.
        EngineAway when that cannot be told now. On this machine the folders of runs tell (`engines.folders`)."""
        return None

    @abstractmethod
    def watch(self, run_id: str, handle: Handle, ear: Ear) -> bool:
        """Take up the watch again after a restart of the server. False when nothing of the gang is alive or waiting.
        A cluster that does not answer now is asked again later: that is True."""

    @abstractmethod
    def stop(self, run_id: str, handle: Handle) -> None:
        """Ask the node runners to end the run, or take it out of the cluster's queue. Returns at once; the node
        runners report how it ended, and `gone` follows. With a promise for a handle nothing follows."""

    def close(self) -> None:  # noqa: B027 - most have nothing to close
        """The server ends. Gangs go on."""
