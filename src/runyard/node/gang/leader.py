"""What node 0 does for the other nodes of a run: brings them together, and has them start, stop and deliver.

All of it is for the main thread, but for `spawn`. The messages of the followers come through a queue, from the threads
behind `FollowerConnections`. How the run has ended is decided in `runyard.node.runner`.
"""

from __future__ import annotations

import os
import queue
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Mapping

from runyard.contracts.plan import Plan
from runyard.node.gang import roster
from runyard.node.gang.followers import FollowerConnections
from runyard.node.gang.link import LOST, WITNESS, Message, own_address
from runyard.node.gang.publish import Publisher
from runyard.node.gang.roster import Member, Roster
from runyard.node.gang.spawned import Spawned, SpawnedCommands
from runyard.node.launch.meeting import Meeting
from runyard.node.launch.processes import HOPELESS_AFTER
from runyard.node.log import log_line
from runyard.node.outcome.rank_ends import RankEnd, RankEnds
from runyard.node.problem import RunProblem, Unwanted
from runyard.node.signals import Signals

if TYPE_CHECKING:
    from runyard.node.delivery.run_delivery import RunDelivery

LOOK_EVERY = 1.0  # for a server that has forgotten the run
HERE_WITHIN = 120.0  # seconds for the followers to send hello
REPORT_AFTER = 0.5  # seconds of waiting for other nodes after which the server gets to know of it
ENDED_WITHIN = HOPELESS_AFTER + 15.0  # seconds for the followers to end their processes, on top of the grace
DELIVERED_WITHIN = 4000.0  # seconds for the followers to deliver: one that finds no server gives up before


class Leader:
    """Listens for the followers at once, and publishes where. How their ranks end is added to `ends`."""

    def __init__(self, plan: Plan, folder: Path, signals: Signals, ends: RankEnds) -> None:
        self._plan, self._folder, self._signals = plan, folder, signals
        self._nodes = plan.distribution.nodes
        self._roster = Roster(plan.distribution, ends)
        self._inbox: queue.SimpleQueue[tuple[int, Message]] = queue.SimpleQueue()
        self._commands = SpawnedCommands(self._send)
        self._ending = False
        secret = os.urandom(16).hex()
        (folder / WITNESS).write_text(secret, "ascii")
        self.address = own_address(plan.server_url)
        greeting = {"folder": str(folder), "word": secret}
        self._connections = FollowerConnections(self.address, plan.link, self._nodes, greeting, self._enqueue)
        self._publisher = Publisher(plan, folder, self._connections.place, signals.wake)
        log_line(f"leading {self._nodes} nodes, at {self._connections.place}")

    # -- before the processes run ------------------------------------------------------------------------------------

    def check(self) -> None:
        """Raise what prevents the run from being started, as far as the other nodes go."""
        if self.problem is not None:
            raise RunProblem(
                str(self.problem["code"]), str(self.problem["message"]), str(self.problem.get("help") or "")
            )
        lost = self._roster.first_lost()
        if lost is not None:
            error = roster.lost(lost)
            raise RunProblem(error["code"], error["message"], error["help"])
        since = self._publisher.published_at
        if since is not None and time.monotonic() - since > HERE_WITHIN and self._roster.absent():
            raise roster.incomplete(self._roster.absent(), self._nodes, HERE_WITHIN)

    def check_wanted(self) -> None:
        if self._publisher.refused is not None:
            raise Unwanted(f"the server does not want this run to go on: {self._publisher.refused}")

    def wait_until_ready(self, check: Callable[[], None], report: Callable[[str], None]) -> list[Member]:
        """The other nodes, in their order, once all of them could start their processes."""
        members = [self._roster.members[node] for node in sorted(self._roster.members)]
        began, reported = time.monotonic(), -1
        while not all(member.ready for member in members):
            ready = 1 + sum(member.ready for member in members)
            if ready != reported and time.monotonic() - began > REPORT_AFTER:
                report(f"{ready} of {self._nodes} nodes are ready")
                reported = ready
            self._signals.wait(REPORT_AFTER)
            check()
        sharing = [member.node for member in members if member.shares_work]
        if self._plan.attempt > 1 and sharing:
            from runyard.node.prepare.former_outputs import give_back_of

            give_back_of(sharing, self._plan, self._folder, check)
        return members

    def start(self, meeting: Meeting) -> None:
        """Have the other nodes start their processes."""
        self._connections.send_all("go", meeting=meeting.as_dict())

    def spawn(self, node: int, argv: list[str], variables: Mapping[str, str]) -> Spawned:
        """Start a command on another node; any thread may call it."""
        return self._commands.start(node, argv, variables)

    # -- while they run ----------------------------------------------------------------------------------------------

    def load_the_rest(self) -> None:
        """As `Crew.load_the_rest`."""
        from runyard.node.rescue import rescue  # noqa: F401

    @property
    def stop_requested(self) -> bool:
        """Whether another node was asked to stop the run."""
        return self._roster.stop_requested

    @property
    def problem(self) -> dict[str, Any] | None:
        """The error of a node that could not start its processes."""
        return self._roster.problem

    @property
    def broken(self) -> bool:
        """Whether a node could not start its processes, or is lost."""
        return self.problem is not None or self._roster.first_lost() is not None

    def lost_before(self, failure: RankEnd | None) -> dict[str, Any] | None:
        """The error of a run that lost a node before a rank of it failed, if one did."""
        lost = self._roster.first_lost()
        if lost is None or (failure is not None and failure.at < lost.lost_at):
            return None
        return roster.lost(lost)

    def receive(self) -> None:
        """Process the messages that have come from the followers."""
        while True:
            try:
                node, message = self._inbox.get_nowait()
            except queue.Empty:
                return
            kind = message["say"]
            if kind == "spawned_ended":
                self._commands.ended(int(message["number"]), int(message["code"]))
                continue
            self._roster.note(node, message, self._connections.last_message(node))
            if kind == LOST:
                self._commands.lost(node)
            elif kind == "hello" and self._ending:
                self._send(node, "end")  # it comes too late

    # -- when they have ended ----------------------------------------------------------------------------------------

    def end(self) -> None:
        """Have the other nodes end their processes."""
        self._ending = True
        self._connections.send_all("end")

    def wait_until_ended(self) -> None:
        """Wait for the other nodes to end their processes; one that does not is lost."""
        deadline = time.monotonic() + self._plan.grace_seconds + ENDED_WITHIN
        self.receive()
        while not self._roster.over():
            if time.monotonic() > deadline:
                for member in self._roster.members.values():
                    if not member.over:
                        self._roster.lose(member.node, "it did not end its processes in time", time.monotonic())
            self._signals.wait(LOOK_EVERY)
            self.receive()

    def wait_until_delivered(self, delivery: RunDelivery) -> list[dict[str, str]]:
        """Wait for the other nodes to deliver, and do it for those that cannot, as far as their folders are in reach;
        returns warnings of what may be missing. `delivery` is that of node 0."""
        from runyard.node.rescue.rescue import rescue_nodes

        deadline = time.monotonic() + DELIVERED_WITHIN
        self.receive()
        while self._roster.delivering() and not delivery.unwanted and time.monotonic() < deadline:
            self._signals.wait(LOOK_EVERY)
            self.receive()
        left = [member for member in self._roster.members.values() if not member.delivered]
        if not left or delivery.unwanted:
            return self._roster.warnings
        done = rescue_nodes(self._plan, self._folder, [member.node for member in left], self._signals)
        return self._roster.warnings + [roster.undelivered(member) for member in left if member.node not in done]

    def close(self) -> None:
        self._connections.close()

    def _enqueue(self, node: int, message: Message) -> None:
        """Called from the threads behind the connections."""
        self._inbox.put((node, message))
        self._signals.wake()

    def _send(self, node: int, kind: str, **more: Any) -> None:
        self._connections.send(node, kind, **more)
