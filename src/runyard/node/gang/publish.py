"""How two node runners find each other: the leader publishes its address on the server, the followers poll for it.

The HTTP client is loaded by the thread that needs it: that takes longer than all that the leader does meanwhile.
"""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Callable

from runyard.contracts.plan import Plan
from runyard.node.gang.link import Link, LinkLost, Stranger, join
from runyard.node.log import log_line
from runyard.node.problem import Unwanted

if TYPE_CHECKING:
    from runyard.node.delivery.retrying_client import RetryingClient

FIND_WITHIN = 180.0  # seconds for a follower to find its leader
SHORTEST_PAUSE, LONGEST_PAUSE = 0.02, 0.5


class Publisher:
    """Publishes the leader's address from a thread of its own, while the leader prepares."""

    def __init__(self, plan: Plan, folder: Path, place: str, wake: Callable[[], None]) -> None:
        self.published_at: float | None = None
        self.refused: str | None = None  # why the server rejects it
        self._wake = wake
        threading.Thread(target=self._publish, args=(plan, folder, place), name="publish", daemon=True).start()

    def _publish(self, plan: Plan, folder: Path, place: str) -> None:
        from runyard.node.delivery.retrying_client import Refused

        try:
            _client(plan, folder, lambda: None).send("PUT", _path(plan), {"attempt": plan.attempt, "address": place})
            self.published_at = time.monotonic()
        except (Refused, Unwanted) as why:
            self.refused = str(why)
        self._wake()


def find_leader(plan: Plan, folder: Path, check: Callable[[], None]) -> Link | None:
    """The link to the leader; None when there is none in time, or when the server answers that there will be none."""
    from runyard.node.delivery.retrying_client import Refused

    client = _client(plan, folder, check)
    deadline, pause, logged = time.monotonic() + FIND_WITHIN, SHORTEST_PAUSE, ""
    while time.monotonic() < deadline:
        try:
            place = client.send("GET", _path(plan), params={"attempt": plan.attempt})["address"]
        except Refused as refusal:
            log_line(f"the server does not tell where the leader is: {refusal}")
            return None
        if place:
            try:
                return join(str(place), plan.link, plan.node)
            except (LinkLost, Stranger) as why:
                if str(why) != logged:
                    logged = str(why)
                    log_line(f"the leader at {place} was not met: {logged}")
        check()
        time.sleep(pause)
        pause = min(pause * 1.5, LONGEST_PAUSE)
    log_line(f"the leader was not found within {FIND_WITHIN:.0f} s")
    return None


def _path(plan: Plan) -> str:
    from runyard.client.http import quote

    return f"/api/runs/{quote(plan.run_id)}/meeting"


def _client(plan: Plan, folder: Path, check: Callable[[], None]) -> RetryingClient:
    from runyard.node.delivery.retrying_client import RetryingClient

    return RetryingClient.of(plan, folder, check)
