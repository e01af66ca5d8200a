"""What a Slurm cluster has: its partitions and their nodes, from sinfo."""

from __future__ import annotations

import re
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from runyard.contracts.compute import IDLE, LEAVING, PREPARING, RUNNING, UNUSABLE, Resources
from runyard.engines.base import EngineAway
from runyard.engines.slurm.commands import Commands

FRESH = 5.0
"""Seconds for which an answer is good enough to show."""

_FORMAT = "%P|%l|%L|%s|%N|%T|%c|%m|%o|%G"
_STATES = {
    **dict.fromkeys(("idle", "planned"), IDLE),
    **dict.fromkeys(("allocated", "mixed"), RUNNING),
    **dict.fromkeys(("powering_up", "booting"), PREPARING),
    **dict.fromkeys(("completing", "draining", "powering_down"), LEAVING),
}


@dataclass(frozen=True)
class Machine:
    """A node of the cluster."""

    name: str
    state: str  # one of the node states of `contracts.compute`
    address: str
    has: Resources

    def fits(self, wanted: Resources) -> bool:
        has = self.has
        return has.cores >= wanted.cores and has.memory_mb >= wanted.memory_mb and has.gpus >= wanted.gpus


@dataclass
class Partition:
    name: str
    default: bool
    minutes: int | None  # the longest that a job may take; None: for ever
    most_nodes: int | None  # that one job may have; None: all
    short: bool = False  # whether a job that asks for no time gets less than the longest
    machines: list[Machine] = field(default_factory=list)

    def largest_gang(self) -> int:
        return len(self.machines) if self.most_nodes is None else min(self.most_nodes, len(self.machines))

    def kinds(self) -> str:
        """The nodes as text: how many there are of each kind."""
        counted = Counter(machine.has for machine in self.machines)
        return "; ".join(f"{count} with {described(has)}" for has, count in counted.items()) or "no node"


class Cluster:
    """Asks sinfo, and caches the answer for a moment."""

    def __init__(self, commands: Commands) -> None:
        self._commands = commands
        self._lock = threading.Lock()
        self._asked_at = float("-inf")
        self._answer: dict[str, Partition] | EngineAway = {}

    def partitions(self, fresh: float = FRESH) -> dict[str, Partition]:
        """Every partition by name, from an answer that is at most `fresh` seconds old. No answer is cached for a
        moment too: the next caller need not wait as long."""
        with self._lock:
            if time.monotonic() - self._asked_at > (min(fresh, FRESH) if self._is_away() else fresh):
                self._answer = self._ask()
                self._asked_at = time.monotonic()
            if isinstance(self._answer, EngineAway):
                raise EngineAway(str(self._answer))
            return self._answer

    def _is_away(self) -> bool:
        return isinstance(self._answer, EngineAway)

    def _ask(self) -> dict[str, Partition] | EngineAway:
        try:
            return read(self._commands.run("sinfo", "--all", "--noheader", "--Node", f"--format={_FORMAT}"))
        except EngineAway as error:
            return error

    def partition(self, name: str, fresh: float = FRESH) -> Partition | None:
        """The one of that name; without a name, the cluster's default. Several, with commas between them, as one."""
        partitions = self.partitions(fresh)
        if not name:
            return next((each for each in partitions.values() if each.default), None)
        found = [partitions[each] for each in name.split(",") if each in partitions]
        if len(found) < len(name.split(",")):
            return None
        return found[0] if len(found) == 1 else together(name, found)


def together(name: str, partitions: Sequence[Partition]) -> Partition:
    """Partitions of which a job gets whichever is free first."""
    limits = [each.minutes for each in partitions if each.minutes is not None]
    machines = {machine.name: machine for each in partitions for machine in each.machines}
    minutes = max(limits) if len(limits) == len(partitions) else None
    most_nodes, short = max(each.largest_gang() for each in partitions), any(each.short for each in partitions)
    return Partition(name, False, minutes, most_nodes, short, list(machines.values()))


def read(output: str) -> dict[str, Partition]:
    """
    >>> read("gpu*|1-00:00:00|n/a|1-2|n1|mixed*|16|64000|10.0.0.1|gpu:a100:4(S:0-1)")["gpu"].machines[0].has
    Resources(cores=16, memory_mb=64000, gpus=4)
    """
    found: dict[str, Partition] = {}
    for line in output.splitlines():
        parts = [part.strip() for part in line.split("|", 9)]
        if len(parts) < 10:
            continue
        name, limit, unasked, size, node, state, cores, memory, address, gres = parts
        default, name = name.endswith("*"), name.rstrip("*")
        if name not in found:
            most = size.rpartition("-")[2]
            short = unasked not in ("n/a", limit)
            found[name] = Partition(name, default, minutes(limit), int(most) if most.isdigit() else None, short)
        has = Resources(_number(cores), _number(memory), _gpus(gres))
        found[name].machines.append(Machine(node, _state(state), address, has))
    return found


def minutes(limit: str) -> int | None:
    """A time as Slurm writes it, in minutes.

    >>> [minutes(text) for text in ("7-00:00:00", "1:30:00", "30:00", "infinite")]
    [10080, 90, 30, None]
    """
    found = re.fullmatch(r"(?:(\d+)-)?(?:(\d+):)?(\d+):(\d+)", limit.strip())
    if found is None:
        return None
    days, hours, rest, _ = (int(part or 0) for part in found.groups())
    return (days * 24 + hours) * 60 + rest


def host_names(text: str) -> list[str]:
    """The nodes that a list of Slurm's stands for.

    >>> host_names("a[1-2,05-06]-ib,login")
    ['a1-ib', 'a2-ib', 'a05-ib', 'a06-ib', 'login']
    """
    names: list[str] = []
    for part in re.findall(r"(?:[^,\[]|\[[^\]]*\]?)+", text):
        made = [""]
        for plain, ranges in re.findall(r"([^\[]+)|\[([^\]]*)\]?", part):
            ends = [plain] if plain else [each for span in ranges.split(",") for each in _span(span)]
            made = [f"{start}{end}" for start in made for end in ends]
        names += made
    return names


def described(has: Resources) -> str:
    """Resources as text for people."""
    parts = [f"{has.cores} cores"] if has.cores else []
    if has.memory_mb:
        parts.append(f"{has.memory_mb / 1024:.3g} GiB of memory")
    if has.gpus:
        parts.append(f"{has.gpus} GPU{'s' if has.gpus > 1 else ''}")
    return ", ".join(parts) or "nothing"


def _span(text: str) -> list[str]:
    first, dash, last = text.partition("-")
    if not dash:
        return [first]
    return [str(number).zfill(len(first)) for number in range(int(first), int(last) + 1)]


def _state(text: str) -> str:
    """The state of a node. Signs behind it: `*` does not answer, `#` is being started, `%` is being shut down."""
    if text.endswith("*"):
        return UNUSABLE
    if text.endswith("#"):
        return PREPARING
    if text.endswith("%"):
        return LEAVING
    plain = re.fullmatch(r"([a-z_]+)[^a-z_]*", text)
    return _STATES.get(plain[1], UNUSABLE) if plain is not None else UNUSABLE


def _gpus(gres: str) -> int:
    return sum(int(count) for count in re.findall(r"(?:^|,)gpu(?::[^,:()]+)*?:(\d+)(?=[,(]|$)", gres))


def _number(text: str) -> int:
    found = re.match(r"\d+", text)
    return int(found[0]) if found else 0
