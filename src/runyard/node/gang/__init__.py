"""Runs of many processes, on one node or several: node 0 leads, the others follow it over a connection of their own."""

from __future__ import annotations

from pathlib import Path

from runyard.contracts.plan import Plan
from runyard.node.signals import Signals


def part(plan: Plan, folder: Path, signals: Signals) -> int:
    """Play the part of this node in the run; returns the exit code of the node runner."""
    if plan.node == 0:
        from runyard.node.gang.leader import Leader

        return Leader(plan, folder, signals).run()
    from runyard.node.gang.follower import Follower

    return Follower(plan, folder, signals).run()
