"""The way of two node runners to each other: the leader tells the server its address, the followers ask for it.

What speaks HTTP is loaded by the thread that needs it: it takes longer to load than all that the leader does meanwhile.
"""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Callable

from runyard.contracts.plan import Plan
from runyard.node.gang.link import Link, LinkLost, Stranger, join
from runyard.node.log import say

if TYPE_CHECKING:
    from runyard.node.delivery.retrying_client import Courier

FIND_WITHIN = 180.0  # seconds for a follower to find its leader
SHORTEST_PAUSE, LONGEST_PAUSE = 0.02, 0.5


class Publisher:
    """Tells the server, from a thread of its own, where the leader listens: the leader prepares meanwhile."""

    def __init__(self, plan: Plan, folder: Path, place: str, wake: Callable[[], None]) -> None:
        self.published_at: float | None = None
        self.refused: str | None = None  # why the server does not want to know
        self._wake = wake
        threading.Thread(target=self._publish, args=(plan, folder, place), name="publish", daemon=True).start()

    def _publish(self, plan: Plan, folder: Path, place: str) -> None:
        from runyard.node.delivery.retrying_client import Refused, Unwanted

        try:
            said = {"attempt": plan.attempt, "address": place}
            _courier(plan, folder, lambda: None).send("PUT", _path(plan), said)
            self.published_at = time.monotonic()
        except (Refused, Unwanted) as why:
            self.refused = str(why)
        self._wake()


def find_leader(plan: Plan, folder: Path, check: Callable[[], None]) -> Link | None:
    """The link to the leader; None when there is none in time, or the server says that there will be none."""
    from runyard.node.delivery.retrying_client import Refused

    asked = _courier(plan, folder, check)
    deadline, pause, told = time.monotonic() + FIND_WITHIN, SHORTEST_PAUSE, ""
    while time.monotonic() < deadline:
        try:
            place = asked.send("GET", _path(plan), params={"attempt": plan.attempt})["address"]
        except Refused as refusal:
            say(f"the server does not tell where the leader is: {refusal}")
            return None
        if place:
            try:
                return join(str(place), plan.link, plan.node)
            except (LinkLost, Stranger) as why:
                if str(why) != told:
                    told = str(why)
                    say(f"the leader at {place} was not met: {told}")
        check()
        time.sleep(pause)
        pause = min(pause * 1.5, LONGEST_PAUSE)
    say(f"the leader was not found within {FIND_WITHIN:.0f} s")
    return None


def _path(plan: Plan) -> str:
    from runyard.client.http import quote

    return f"/api/runs/{quote(plan.run_id)}/meeting"


def _courier(plan: Plan, folder: Path, check: Callable[[], None]) -> Courier:
    from runyard.node.delivery.retrying_client import Courier

    return Courier.of(plan, folder, check)
