"""The seam between the scheduler and whatever starts processes: this machine, Ray, Slurm.

An engine is as thin as possible. It starts one node runner on each of N nodes, all or none, reports when they have
ended, and stops them. It knows nothing of environments, snapshots, ranks or logs: all that is in the plans that it
passes to the node runners, and the node runners of a gang look after each other.

docs/engines/writing.md shows how to write one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from runyard.contracts.compute import Node, Resources, Target
from runyard.contracts.plan import Plan

Handle = dict[str, Any]
"""What an engine needs to find a gang again after the server was restarted. JSON; opaque to others."""


class EngineError(Exception):
    """The engine could not do it, and a retry will not help; the text has the reason and what to do."""


class EngineAway(EngineError):
    """The engine does not answer now, but may later: the address of a cluster that is down, for example."""


@dataclass(frozen=True)
class Gang:
    """The node runners to start: one plan per node, that of node 0 first."""

    plans: list[Plan]
    manifest: bytes | None  # of the run's snapshot: an engine that can put it beside a plan saves a request
    resources: Resources

    @property
    def run_id(self) -> str:
        return self.plans[0].run_id


class EngineEvents(Protocol):
    """Receives what happens to a gang. Engines call it from any thread."""

    def waits(self, run_id: str, reason: str) -> None:
        """The cluster has the gang in its own queue, for this reason."""

    def placed(self, run_id: str) -> None:
        """The gang has its nodes: its node runners are being started."""

    def gone(self, run_id: str, how: str, taken: bool = False) -> None:
        """No node runner of the gang is alive any more; called once. `taken`: the cluster took the nodes away."""


@dataclass(frozen=True)
class Offer:
    """What a cluster has. `most_nodes` is how many a gang can ever have; None when that cannot be known."""

    nodes: list[Node]
    most_nodes: int | None = None


@dataclass(frozen=True)
class Finding:
    """What `runyard doctor` shows of an engine. `help` is what to do when it is not ok."""

    ok: bool
    message: str
    help: str = ""


class Engine(ABC):
    """Starts gangs of node runners, reports when they have ended, and asks them to stop. One engine serves one target;
    that of this machine serves all targets on it.

    It is made as `Class(folders, home, options)`: the `engines.folders.RunFolders` of the server, the server's home
    folder, and the options of the target, checked against the engine's description. That must not wait for a cluster.
    """

    @abstractmethod
    def check(self, target: Target) -> None:
        """Raise EngineError when nothing could ever run on such a target: a partition that does not exist, no node
        with that many GPUs. Raise EngineAway when the cluster does not answer."""

    @abstractmethod
    def offer(self) -> Offer:
        """The nodes that the cluster has now, whoever uses them. Quick: an answer that is seconds old will do."""

    @abstractmethod
    def start(self, gang: Gang, events: EngineEvents) -> Handle:
        """Start the gang, all of it or nothing. Returns as soon as that is under way. After EngineAway, nobody knows
        whether it is: `find` is called before the gang is started again."""

    def promise(self, gang: Gang) -> Handle:
        """What `find` could find the gang by. Stored before `start`: the server may die before that returns."""
        return {}

    def find(self, run_id: str, promise: Handle, events: EngineEvents) -> Handle | None:
        """Watch a gang whose `start` was interrupted, if it was started; None when the cluster does not know it.
        EngineAway when that cannot be found out now."""
        return None

    @abstractmethod
    def watch(self, run_id: str, handle: Handle, events: EngineEvents) -> bool:
        """Watch a gang again after a restart of the server. False when nothing of the gang is alive or waiting.
        A cluster that does not answer now is asked again later: that is True."""

    @abstractmethod
    def stop(self, run_id: str, handle: Handle) -> None:
        """Ask the node runners to end the run, or remove it from the cluster's queue. Returns at once; the node
        runners report how it ended, and `gone` follows. With a promise for a handle nothing follows."""

    def close(self) -> None:  # noqa: B027 - most have nothing to close
        """The server ends. Gangs go on."""

    @classmethod
    def diagnose(cls, targets: Sequence[Target]) -> Iterable[Finding]:
        """Whether this machine has what the engine needs, given the targets that use it. For `runyard doctor`."""
        return ()
