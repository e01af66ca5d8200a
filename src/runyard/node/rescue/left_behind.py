"""What runners have left on the disk of a node that were killed before they could deliver it.

Where a node has a disk of its own, nobody else can see it: the server rescues only what is on its disk. So the next
runner on the node, for whatever run of that server, delivers it before it ends.
"""

from __future__ import annotations

from pathlib import Path

from runyard.contracts.plan import Plan
from runyard.node import state
from runyard.node.lock import take_lock
from runyard.node.log import log_line
from runyard.node.rescue.rescue import take_over
from runyard.node.signals import Signals
from runyard.system.processes import alive


def deliver_left_behind(plan: Plan, folder: Path, signals: Signals) -> None:
    """Deliver for dead runners whose folders are beside the one of this plan's runner."""
    for place in sorted(folder.parent.iterdir()):
        left = _left(place, plan.server_url)
        if place == folder or left is None:
            continue
        try:
            lock = take_lock(place)
        except FileNotFoundError:
            continue  # another runner of this node was faster, and is done
        if lock is None:
            continue
        with lock:
            if (place / "plan.json").is_file():
                log_line(f"delivering what a runner of {left.run_id} left in {place}")
                take_over(left, place, signals)


def _left(place: Path, server_url: str) -> Plan | None:
    """The plan of a dead runner; None when it may be alive, is of another server, or has not begun. On a disk that
    nodes share, locks may not be seen by all of them: only a runner of this machine is known to be dead."""
    former = state.load(place)
    if former is None or former.machine != state.machine() or alive(former.runner.pid, former.runner.started):
        return None
    try:
        plan = Plan.load(place)
    except (OSError, ValueError):
        return None
    return plan if plan.server_url == server_url else None
