"""What the leader knows of its followers: which are here, ready, ended, done with their delivery, or lost."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from runyard.contracts.distribution import Distribution
from runyard.contracts.history import system_log
from runyard.node.gang.link import LOST, Message
from runyard.node.log import log_line
from runyard.node.outcome.rank_ends import RankEnd, RankEnds
from runyard.node.problem import RunProblem
from runyard.node.streams import RUNNER_LOG


@dataclass
class Member:
    """One follower, as far as its messages go."""

    node: int
    host: str = ""
    address: str = ""
    shares_work: bool = False
    ports: list[int] = field(default_factory=list)
    here: bool = False
    ready: bool = False
    mpi: bool = False  # whether it has an MPI
    over: bool = False  # no process of the run is alive there
    delivered: bool = False
    lost: str | None = None  # why it counts as lost
    lost_at: float = 0.0
    behind: float | None = None  # added to a time of its clock, it gives that of ours

    @property
    def name(self) -> str:
        return f"node {self.node} ({self.host})" if self.host else f"node {self.node}"


class Roster:
    """Notes the messages of the followers; how their ranks ended is added to `ends`, by the leader's clock."""

    def __init__(self, distribution: Distribution, ends: RankEnds) -> None:
        self.members = {node: Member(node) for node in range(1, distribution.nodes)}
        self._ends = ends
        self.problem: dict[str, Any] | None = None  # why a node could not start its processes
        self.stop_requested = False
        self.warnings: list[dict[str, str]] = []

    def note(self, node: int, message: Message, received_at: float) -> None:
        """Note one message; `received_at` is when the last one of the node came, heartbeats included."""
        member = self.members[node]
        kind = message["say"]
        if kind == LOST:
            self.lose(node, message["why"], received_at)
            return
        self._set_clock(member, float(message["at"]))
        if kind == "hello":
            member.host, member.address = str(message["host"]), str(message["address"])
            member.shares_work, member.here = bool(message["shares_work"]), True
            log_line(f"{member.name} is here{', and shares the working folder' if member.shares_work else ''}")
        elif kind == "ready":
            member.ports, member.ready = [int(port) for port in message["ports"]], True
            member.mpi = bool(message.get("mpi"))
        elif kind == "failed":
            error = {**message["error"], "node": node}
            self.problem = self.problem or {**error, "message": f"On {member.name}: {error.get('message', '')}"}
        elif kind == "ended":
            self._end(member, message["end"])
        elif kind == "stop_asked":
            self.stop_requested = True
        elif kind == "over":
            for end in message["ends"]:
                self._end(member, end)
            member.over = True
        elif kind == "delivered":
            member.delivered = True
            self.warnings += message["warnings"]

    def lose(self, node: int, why: str, at: float) -> None:
        """A node is lost; not one that has delivered, which was about to leave."""
        member = self.members[node]
        if not member.delivered and member.lost is None:
            log_line(f"{member.name} is lost: {why}")
            member.lost, member.lost_at = why, at

    def first_lost(self) -> Member | None:
        """The node that was lost first, among those whose processes had not ended."""
        lost = [member for member in self.members.values() if member.lost is not None and not member.over]
        return min(lost, key=lambda member: member.lost_at) if lost else None

    def over(self) -> bool:
        """Whether no process of the run is alive on any node that is here."""
        return all(each.over for each in self.members.values() if each.here and each.lost is None)

    def delivering(self) -> bool:
        """Whether a node is still at work."""
        return any(each.here and not each.delivered and each.lost is None for each in self.members.values())

    def absent(self) -> list[int]:
        return [member.node for member in self.members.values() if not member.here]

    def _end(self, member: Member, fields: dict[str, Any]) -> None:
        end = RankEnd.from_dict(fields)
        self._ends.add([end._replace(at=end.at + (member.behind or 0.0))])

    def _set_clock(self, member: Member, theirs: float) -> None:
        """The quickest message is the best measure of how their clock differs from ours."""
        behind = time.monotonic() - theirs
        member.behind = behind if member.behind is None else min(member.behind, behind)


def lost(member: Member) -> dict[str, Any]:
    """The error of a run that lost one of its nodes."""
    name = member.name[0].upper() + member.name[1:]
    return {
        "code": "NodeLost",
        "message": f"{name} was lost: {member.lost}.",
        "help": "The machine, its network or the node runner on it went away, and the other nodes were stopped. What "
        f"the run wrote until then is kept; {system_log(RUNNER_LOG, member.node)} may tell more. Submit the run "
        "again; on a target of low priority it is started again by itself.",
        "node": member.node,
    }


def undelivered(member: Member) -> dict[str, str]:
    """The warning that something of a node may be missing."""
    name = member.name[0].upper() + member.name[1:]
    return {"source": "node runner", "message": f"{name} has not delivered all that was written there."}


def incomplete(absent: list[int], nodes: int, seconds: float) -> RunProblem:
    """The problem of a gang some of whose nodes never came."""
    which = f"node {absent[0]}" if len(absent) == 1 else f"nodes {', '.join(str(node) for node in absent)}"
    return RunProblem(
        "GangIncomplete",
        f"{len(absent)} of {nodes} nodes did not report to node 0 within {seconds:.0f} s: {which}.",
        "Check that the nodes can connect to each other (a firewall between them?) and to the server; the log of the "
        "cluster tells whether their node runners were started.",
    )
