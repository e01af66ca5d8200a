"""The seam between the scheduler and whatever starts processes: a laptop, Ray, Slurm, Kubernetes.

An engine is as thin as possible. It knows nothing of environments, snapshots or logs: the plan that it hands to the
node runner says all that.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from runyard.contracts.plan import Plan

Handle = dict[str, Any]
"""What an engine needs to find a run's node runners again after the server was restarted. JSON; opaque to others."""

Gone = Callable[[str, str], None]
"""Called once with (run id, how it ended in words) when no node runner of a run is alive any more."""


class EngineError(Exception):
    """The engine could not start a run; the text says why and what to do."""


class Engine(ABC):
    """Starts the node runners of runs, tells when they are gone, and asks them to stop."""

    @property
    @abstractmethod
    def places(self) -> int:
        """How many runs may be under way at once."""

    @abstractmethod
    def start(self, plan: Plan, manifest: bytes | None, gone: Gone) -> Handle:
        """Start the node runners of a run, all or none. Returns as soon as they are on their way.

        `manifest` is that of the run's snapshot: an engine that can lay it beside the plan spares the runner a request.
        """

    @abstractmethod
    def watch(self, run_id: str, handle: Handle, gone: Gone) -> bool:
        """Take up the watch again after a restart of the server. False when nothing of the run is alive."""

    @abstractmethod
    def stop(self, handle: Handle) -> None:
        """Ask the node runners to end the run. Returns at once; they report how it ended."""

    @abstractmethod
    def rescue(self, run_id: str, gone: Gone) -> Handle | None:
        """Deliver what dead node runners left behind, and end what they left alive. None: there is nothing of it."""

    @abstractmethod
    def left(self) -> list[str]:
        """The runs of which something lies where their node runners work."""

    @abstractmethod
    def clear(self, run_id: str) -> None:
        """Remove what a node runner has left that was killed after it had delivered everything."""
