"""The part of a gang that is on this node: its environment, its processes and how they ended.

The leader and each follower have one. It knows nothing of the other nodes but what the meeting says.
"""

from __future__ import annotations

import os
import signal
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Mapping, NamedTuple

from runyard.contracts.distribution import MPI, PARAMETER_SERVER, Rank
from runyard.contracts.history import rank_log
from runyard.contracts.plan import Plan
from runyard.node.launch import frameworks, launch, processes, variables
from runyard.node.launch.children import Child, Ranks
from runyard.node.launch.meeting import Meeting
from runyard.node.launch.ports import Ports
from runyard.node.log import say
from runyard.node.outcome import exits, failure
from runyard.node.outcome.exits import Exit
from runyard.node.prepare import environment
from runyard.node.prepare.prepare import make_folders, prepare
from runyard.node.signals import Signals
from runyard.node.state import PREPARING, RUNNING, Launched, State, machine
from runyard.system.processes import started

if TYPE_CHECKING:
    from runyard.environments.builder import Built
    from runyard.environments.prepare import Ready
    from runyard.node.mpi import Mpi

MPIRUN_LOG = "mpirun.log"
WITNESS = "witness"
"""A file in the folder of node 0: whoever reads the right word there shares the disk with it."""


@dataclass(frozen=True)
class RankEnd:
    """How one process of the run ended. `error` is there when it ended badly by itself."""

    rank: int
    node: int
    code: int | None
    signal: int | None
    at: float  # of time.monotonic() of the node
    logged: float = 0.0  # when it last wrote to its log: of two that were seen to end at once, who said it first
    error: dict[str, Any] | None = None

    @property
    def exit(self) -> Exit:
        return Exit(self.code, self.signal)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_dict(said: Mapping[str, Any]) -> RankEnd:
        return RankEnd(**{name: said[name] for name in RankEnd.__dataclass_fields__ if name in said})


class Order(NamedTuple):
    """What is to be started for one rank."""

    rank: Rank
    argv: list[str]
    variables: dict[str, str]
    log: Path


class Crew:
    def __init__(self, plan: Plan, folder: Path, signals: Signals) -> None:
        self.plan, self.folder, self.host = plan, folder, os.uname().nodename
        self.work = folder / "work"
        self.ports: Ports | None = None
        self.mpi: Mpi | None = None
        me = Launched(os.getpid(), started(os.getpid()))
        self.state = State(PREPARING, me, os.urandom(16).hex(), machine=machine())
        self._processes = Ranks(self.state.cookie, plan.grace_seconds, signals)
        self._ranks: dict[int, Rank] = {}  # by process id
        self._told: set[int] = set()  # ranks under mpirun whose end was told
        self._told_to_end: float | None = None  # when the processes were; of time.monotonic()
        self._memory_kills = exits.memory_kills()
        self._environment: Ready | None = None  # held for as long as the run lives, so that nobody removes it

    @property
    def ranks(self) -> list[Rank]:
        return [each for each in self.plan.distribution.ranks() if each.node == self.plan.node]

    def enlist(self) -> None:
        """Make sure that no process of the run can get lost, and that a rescue knows of this runner."""
        processes.adopt_orphans()
        os.environ[processes.COOKIE] = self.state.cookie  # for the tools that build the environment
        self.save()

    def save(self, **changes: Any) -> None:
        self.state = replace(self.state, **changes)
        self.state.save(self.folder)

    def share_work(self, leaders: Path) -> None:
        """Work in the folder of node 0, which is on a disk that this node sees."""
        self.work = leaders / "work"
        self.save(shares_work=True)

    def get_ready(self, address: str, check: Callable[[], None], tell: Callable[[str], None]) -> None:
        """Everything that can be done before the other nodes are ready."""
        if self.state.shares_work:
            make_folders(self.folder)
        else:
            prepare(self.plan, self.folder, check)
        self._environment = environment.ready(self.plan, self.folder, check, tell)
        self.ports = Ports(address, frameworks.ports_wanted(self.plan.distribution, self.plan.node))
        if self.plan.distribution.kind == MPI:
            from runyard.node.mpi import find

            memory = Path(self.plan.environments) if self.plan.environments else None
            self.mpi = find(self.variables(), memory, str(self.built.image or "") if self.built is not None else "")
            say(f"MPI: {self.mpi.words}")

    @property
    def built(self) -> Built | None:
        return self._environment.built if self._environment is not None else None

    def variables(self) -> dict[str, str]:
        """What all processes of this node see."""
        known = variables.for_script(self.plan, self.folder, self.state.cookie, os.environ, self.built)
        if self.state.shares_work:
            theirs = self.plan.launch.environment_variables
            here = {"PWD": str(self.work), "AZUREML_CR_EXECUTION_WORKING_DIR_PATH": str(self.work)}
            known.update({name: value for name, value in here.items() if name not in theirs})
        return known

    def mpirun(self, meeting: Meeting) -> tuple[list[str], dict[str, str]]:
        """What node 0 starts in place of the ranks, and its variables."""
        from runyard.node.mpi import command

        assert self.mpi is not None
        return command(self.mpi, self.plan, meeting, self._program(), self.variables(), self.folder)

    def variables_under_mpi(self, meeting: Meeting) -> dict[str, str]:
        """What the processes see that mpirun has started on this node."""
        from runyard.node.mpi import node_environment

        assert self.mpi is not None
        argv, known = self._program(), self.variables()
        return node_environment(self.plan, self.mpi, self.plan.node, meeting, known, self.folder, argv)

    def orders(self, meeting: Meeting) -> list[Order]:
        """What is to be started here, once all nodes are ready; RunProblem when it cannot be."""
        everyones = self.variables()
        orders = []
        for rank in self.ranks:
            known = {**everyones, **frameworks.rank_variables(self.plan, rank, meeting, everyones)}
            argv = launch.program(self.plan.launch, self.work, known, self.built)
            log = self._rank_log(rank.rank)
            if self.built is not None and self.built.image:
                argv, known = self._contained(rank, argv, known, log), dict(os.environ)
            orders.append(Order(rank, argv, known, log))
        return orders

    def start(self, orders: list[Order]) -> None:
        for order in orders:
            child = self._processes.start(order.argv, self.work, order.variables, order.log)
            self._ranks[child.pid] = order.rank
            self.save(phase=RUNNING, processes=self._processes.launched())

    def spawn(self, argv: list[str], known: Mapping[str, str]) -> Child:
        """Start something that is no rank itself: mpirun, or what it wants to have on this node."""
        child = self._processes.start(argv, self.work, known, self.folder / "streams" / MPIRUN_LOG)
        self.save(phase=RUNNING, processes=self._processes.launched())
        return child

    def reap(self) -> tuple[list[RankEnd], list[Child]]:
        """The ranks that have ended since this was last asked, and what else was started here and has ended."""
        ranks, others = self._sort(self._processes.reap())
        return ranks + self._ends_under_mpi(), others

    def end(self) -> tuple[list[RankEnd], list[Child]]:
        """End everything of the run on this node; returns what was not told by `reap` yet."""
        before = self.reap()
        self._told_to_end = time.monotonic()
        after = self._sort(self._processes.end())
        self._remove_containers()
        self._remove_files_of_mpi()
        return before[0] + after[0] + self._ends_under_mpi(), before[1] + after[1]

    def _ends_under_mpi(self) -> list[RankEnd]:
        """How the ranks that mpirun has started here ended, as far as they could still say; each is told once."""
        if self.mpi is None:
            return []
        from runyard.node.mpi import exits as ends

        found = []
        known = {each.rank: each for each in self.ranks if each.rank not in self._told}
        for rank, code in ends(self.folder).items():
            if rank not in known:
                continue
            self._told.add(rank)
            seen = (self.folder / "streams" / f"rank_{rank}.exit").stat().st_mtime
            exit = Exit(None, code - 128) if 128 < code < 128 + signal.NSIG else Exit(code, None)
            at = time.monotonic() - max(time.time() - seen, 0.0)  # the clock may have been put back since
            found.append(self._rank_end(known[rank], exit, at, self._rank_log(rank)))
        return found

    def _program(self) -> list[str]:
        """The program of the run; mpirun adds the arguments rank by rank."""
        return launch.program(replace(self.plan.launch, arguments=[]), self.work, self.variables(), self.built)

    def _rank_log(self, rank: int) -> Path:
        return self.folder / "streams" / rank_log(rank)

    def _contained(self, rank: Rank, argv: list[str], known: Mapping[str, str], log: Path) -> list[str]:
        from runyard.environments.containers.runtime import Seat

        shared = (self.work, self.work.with_name("temp")) if self.state.shares_work else ()
        seat = Seat(rank.rank, rank.node, log, self.work, shared)
        assert self.built is not None
        return launch.contained(argv, self.plan, self.folder, known, str(self.built.image), seat)

    def _sort(self, ended: list[Child]) -> tuple[list[RankEnd], list[Child]]:
        ranks, others = [], []
        for child in ended:
            assert child.exit is not None
            rank = self._ranks.get(child.pid)
            if rank is None:
                others.append(child)
                say(f"process {child.pid} ended: {exits.words(child.exit)}")
                continue
            ranks.append(self._rank_end(rank, child.exit, child.at, child.log))
            say(f"rank {rank.rank} (process {child.pid}) ended: {exits.words(child.exit)}")
        return ranks, others

    def _rank_end(self, rank: Rank, exit: Exit, at: float, log: Path) -> RankEnd:
        try:
            logged = os.stat(log).st_mtime
        except OSError:
            logged = 0.0
        error = None
        if not exit.ok and (self._told_to_end is None or at < self._told_to_end):
            starved = exits.memory_kills() > self._memory_kills
            role = f" ({rank.role})" if rank.role == PARAMETER_SERVER else ""
            who = f"Rank {rank.rank}{role} on node {rank.node} ({self.host})"
            error = failure.describe(self.plan.launch, exit, self.work, log, starved, who)
            error.update(rank=rank.rank, node=rank.node)
        return RankEnd(rank.rank, rank.node, exit.code, exit.signal, at, logged, error)

    def _remove_files_of_mpi(self) -> None:
        if self.mpi is not None:
            from runyard.node.mpi import remove_files

            remove_files(self.folder)

    def _remove_containers(self) -> None:
        if self.built is not None and self.built.image:
            from runyard.environments.containers.runtime import remove_containers

            remove_containers(self.plan.run_id, say, self.plan.node)
