"""The part of a run that is on this node: its working folder, environment, processes and delivery.

Every node runner has one; a run of one process is a crew of one. It knows of other nodes only what the meeting of
their runners has brought. What only runs of many processes need is loaded for those alone.
"""

from __future__ import annotations

import os
import signal
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Mapping, NamedTuple

from runyard.contracts.distribution import MPI, PARAMETER_SERVER, Rank
from runyard.contracts.journal import SYSTEM
from runyard.contracts.plan import Plan
from runyard.node.launch import launch, processes, variables
from runyard.node.launch.children import Child, Children
from runyard.node.log import log_line
from runyard.node.mlflow.address import Address, wanted
from runyard.node.outcome import exits
from runyard.node.outcome.exits import Exit
from runyard.node.outcome.rank_ends import RankEnd
from runyard.node.prepare import environment
from runyard.node.prepare.prepare import make_folders, prepare
from runyard.node.problem import RunProblem, Unwanted
from runyard.node.signals import Signals
from runyard.node.state import PREPARING, RUNNING, Launched, State, machine
from runyard.node.streams import MPIRUN_LOG, std_log
from runyard.system.processes import started

if TYPE_CHECKING:
    from runyard.environments.builder import Built
    from runyard.environments.prepare import Ready
    from runyard.node.delivery.run_delivery import RunDelivery
    from runyard.node.launch.meeting import Meeting
    from runyard.node.launch.ports import Ports
    from runyard.node.mpi import Mpi
    from runyard.node.observing.observer import Observer
    from runyard.node.prepare.data import Inputs


OBSERVED_AFTER = 1.0  # seconds: nothing is done for processes that end before


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
        self._plan_file = str(folder / "plan.json")
        self.ports: Ports | None = None
        self.mpi: Mpi | None = None
        me = Launched(os.getpid(), started(os.getpid()))
        self.state = State(PREPARING, me, os.urandom(16).hex(), machine=machine())
        self._signals = signals
        self._children = Children(self.state.cookie, plan.grace_seconds, signals)
        self._ranks: dict[int, Rank] = {}  # by process id
        self._reported: set[int] = set()  # ranks under mpirun whose end was reported
        self._stopped_at: float | None = None  # when `end` was called; of time.monotonic()
        self._memory_kills = exits.memory_kills_before()
        self._environment: Ready | None = None  # referenced for as long as the run lives, so that nobody removes it
        self._inputs: Inputs | None = None  # the same
        self._delivery: RunDelivery | None = None
        self._mlflow: Address | None = None  # where MLflow's client is answered
        self._observer: Observer | None = None
        self._began: float | None = None  # when the first process was started; of time.monotonic()
        self._layer = ""  # a folder of `runyard.compat` that the script needs on its path

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

    # -- before the processes run ------------------------------------------------------------------------------------

    def get_ready(self, address: str, check: Callable[[], None], report: Callable[[str], None]) -> None:
        """Everything that can be done before the other nodes are ready. `check` is called often, and may raise to give
        up; `report` is called with the reason before something takes long."""
        if self.state.shares_work:
            make_folders(self.folder)
        else:
            prepare(self.plan, self.folder, check)
        self.get_environment(check, report)
        if self.plan.launch.inputs:
            from runyard.node.prepare.data import bring_inputs

            shares = self.state.shares_work
            self._inputs = bring_inputs(self.plan, self.folder, self.work, shares, check, report)
            self.plan = replace(self.plan, launch=self._inputs.launch)
            self._children.spared = self._inputs.processes
        if self.plan.launch.outputs:
            from runyard.node.prepare.data_outputs import with_outputs

            self.plan = replace(self.plan, launch=with_outputs(self.plan, self.folder, self.work, check))
        distribution = self.plan.distribution
        if distribution.gang:
            from runyard.node.launch.meeting import ports_wanted
            from runyard.node.launch.ports import Ports

            self.ports = Ports(address, ports_wanted(distribution, self.plan.node))
        if distribution.kind == MPI:
            self.mpi = self._find_mpi()
        if distribution.kind == MPI or (self.built is not None and self.built.layers):
            from runyard.node.prepare import horovod

            self._layer = horovod.layer(self.plan, self.built)
            horovod.record(self.plan, self.folder, self.built)

    def get_environment(self, check: Callable[[], None], report: Callable[[str], None]) -> None:
        """The environment alone, where a former runner has prepared everything else."""
        self._environment = environment.ready(self.plan, self.folder, check, report)

    @property
    def built(self) -> Built | None:
        return self._environment.built if self._environment is not None else None

    def variables(self) -> dict[str, str]:
        """What all processes of this node see."""
        found = variables.for_script(self.plan, self.folder, self.state.cookie, os.environ, self.built)
        if self._layer:
            found["PYTHONPATH"] = os.pathsep.join((found["PYTHONPATH"], self._layer))
        if self.state.shares_work:
            users = self.plan.launch.environment_variables
            here = {"PWD": str(self.work), "AZUREML_CR_EXECUTION_WORKING_DIR_PATH": str(self.work)}
            found.update({name: value for name, value in here.items() if name not in users})
        if self._mlflow is None and wanted(self.plan, self.work, os.environ):
            self._mlflow = Address(self.plan, self.folder)
        if self._mlflow is not None:
            theirs = self.plan.launch.environment_variables
            found.update({name: value for name, value in self._mlflow.variables().items() if name not in theirs})
        return found

    def orders(self, meeting: Meeting | None) -> list[Order]:
        """What is to be started here, once all nodes are ready; RunProblem when it cannot be. Without a meeting it is
        the only process of its run."""
        of_node = self.variables()
        orders = []
        for rank in self.ranks:
            of_rank = {**of_node, **self._rank_variables(rank, meeting, of_node)} if meeting is not None else of_node
            argv = launch.program(self.plan.launch, self.work, of_rank, self.built)
            log = self._rank_log(rank.rank)
            if self.built is not None and self.built.image:
                argv, of_rank = self._contained(rank, argv, of_rank, log), dict(os.environ)
            orders.append(Order(rank, argv, of_rank, log))
        return orders

    def mpirun(self, meeting: Meeting) -> tuple[list[str], dict[str, str]]:
        """What node 0 starts in place of the ranks, and its variables."""
        from runyard.node.mpi import command

        assert self.mpi is not None
        return command(self.mpi, self.plan, meeting, self._program(), self.variables(), self.folder)

    def variables_under_mpi(self, meeting: Meeting) -> dict[str, str]:
        """What the processes see that mpirun has started on this node."""
        from runyard.node.mpi import node_environment

        assert self.mpi is not None
        argv, of_node = self._program(), self.variables()
        return node_environment(self.plan, self.mpi, self.plan.node, meeting, of_node, self.folder, argv)

    # -- the processes -----------------------------------------------------------------------------------------------

    def start(self, orders: list[Order]) -> None:
        for order in orders:
            child = self._children.start(order.argv, self.work, order.variables, order.log)
            self._ranks[child.pid] = order.rank
            self._began = self._began or time.monotonic()
            self.save(phase=RUNNING, processes=self._children.launched())
        self._begun()

    def spawn(self, argv: list[str], variables: Mapping[str, str]) -> Child:
        """Start something that is no rank itself: mpirun, or what it needs on this node."""
        child = self._children.start(argv, self.work, variables, self.folder / "streams" / MPIRUN_LOG)
        self._began = self._began or time.monotonic()
        self.save(phase=RUNNING, processes=self._children.launched())
        self._begun()
        return child

    def _begun(self) -> None:
        if self._inputs is not None:
            self._inputs.begun()

    def observe(self) -> None:
        """Have it recorded from now on what the processes take of this node, once they have lived for a moment."""
        if self._observer is not None or self._began is None or SYSTEM not in self.plan.observe:
            return
        if time.monotonic() >= self._began + OBSERVED_AFTER:
            from runyard.node.observing.observer import Observer

            self._observer = Observer(self.folder, self.plan.run_id, self.plan.node, self._children.spared)
            self._observer.begin()

    def reap(self) -> tuple[list[RankEnd], list[Child]]:
        """The ranks that have ended since the last call, and what else was started here and has ended."""
        ranks, others = self._sort(self._children.reap())
        return ranks + self._ends_under_mpi(), others

    def end(self) -> tuple[list[RankEnd], list[Child]]:
        """End everything of the run on this node; returns what `reap` has not returned yet."""
        before = self.reap()
        self._stopped_at = time.monotonic()
        after = self._sort(self._children.end())
        if self._observer is not None:
            self._observer.end()
        self._remove_containers()
        self._remove_files_of_mpi()
        if self._inputs is not None:
            self._inputs.end()
        return before[0] + after[0] + self._ends_under_mpi(), before[1] + after[1]

    def load_the_rest(self) -> None:
        """Load now what the end of the processes needs: the folder with this code may be gone by then, days later."""
        from runyard.node.delivery import removal, run_delivery  # noqa: F401

        if self.plan.launch.outputs:
            from runyard.node.delivery import data_outputs  # noqa: F401
        from runyard.node.outcome import failure  # noqa: F401

    # -- the delivery ------------------------------------------------------------------------------------------------

    def delivery(self, patient: bool = False, resume: bool = False) -> RunDelivery:
        """What delivers to the server. It begins with the first call; until then nothing that it needs is loaded. A
        `patient` one begins once there is something to be delivered; with `resume`, a former runner has sent some."""
        if self._delivery is None:
            from runyard.node.delivery.run_delivery import RunDelivery

            shares = self.state.shares_work
            self._delivery = RunDelivery(self.plan, self.folder, self._signals, resume, shares, patient)
        return self._delivery

    def begin_when_due(self) -> float:
        """Begin to deliver, and to answer MLflow's client, once the run has written something or goes on for longer
        than a moment: each is a thread, which most short runs can do without. Returns the seconds after which this is
        to be asked again."""
        delivery = self.delivery()
        again = delivery.begin_when_due()
        if self._mlflow is not None and delivery.begun:
            self._mlflow.answer()
        return again

    def close(self) -> None:
        """Close what only the run of one process leaves open, now that it is over: this process may take up another."""
        if self._mlflow is not None:
            self._mlflow.close()
        if self._delivery is not None:
            self._delivery.close()

    def check_wanted(self) -> None:
        """Raise `Unwanted` when nobody waits for the run any more."""
        if (self._delivery is not None and self._delivery.unwanted) or not os.path.exists(self._plan_file):
            raise Unwanted("the run's folder is gone, or nobody waits for the run any more")

    # -- within ------------------------------------------------------------------------------------------------------

    def _find_mpi(self) -> Mpi | None:
        """The MPI of this node; None where there is none and the run can do without: the node runners start its ranks
        then, with the variables that mpirun would set."""
        from runyard.node.mpi import find
        from runyard.node.prepare.horovod import needs_mpi

        cache = Path(self.plan.environments) if self.plan.environments else None
        try:
            found = find(self.variables(), cache, str(self.built.image or "") if self.built is not None else "")
        except RunProblem as problem:
            needed = needs_mpi(self.plan, self.work)
            if problem.code != "MpiNotFound":
                raise
            if needed:
                raise RunProblem(problem.code, f"{problem.message} It is needed: {needed}.", problem.help) from None
            log_line("MPI: none was found, and nothing of the run seems to need one: its ranks are started without")
            return None
        log_line(f"MPI: {found.description}")
        return found

    def _rank_variables(self, rank: Rank, meeting: Meeting, of_node: Mapping[str, str]) -> dict[str, str]:
        from runyard.node.launch.frameworks import rank_variables

        return rank_variables(self.plan, rank, meeting, of_node)

    def _program(self) -> list[str]:
        """The program of the run; mpirun adds the arguments rank by rank."""
        return launch.program(replace(self.plan.launch, arguments=[]), self.work, self.variables(), self.built)

    def _rank_log(self, rank: int) -> Path:
        return self.folder / "streams" / std_log(self.plan.distribution, rank)

    def _contained(self, rank: Rank, argv: list[str], variables: Mapping[str, str], log: Path) -> list[str]:
        assert self.built is not None
        os.makedirs(self.folder / "telemetry" / "journal", exist_ok=True)  # nobody in there needs to be able to
        seat = None
        if self.plan.distribution.gang:
            from runyard.environments.containers.runtime import Seat

            shared = (self.work, self.work.with_name("temp")) if self.state.shares_work else ()
            seat = Seat(rank.rank, rank.node, log, self.work, shared)
        return launch.contained(argv, self.plan, self.folder, variables, str(self.built.image), seat)

    def _sort(self, ended: list[Child]) -> tuple[list[RankEnd], list[Child]]:
        ranks, others = [], []
        for child in ended:
            assert child.exit is not None
            rank = self._ranks.get(child.pid)
            text = exits.words(child.exit, self._starved(child.exit))
            if rank is None:
                others.append(child)
                log_line(f"process {child.pid} ended: {text}")
                continue
            ranks.append(self._rank_end(rank, child.exit, child.at, child.log))
            name = f"rank {rank.rank} (process {child.pid})" if self.plan.distribution.gang else f"process {child.pid}"
            log_line(f"{name} ended: {text}")
        return ranks, others

    def _ends_under_mpi(self) -> list[RankEnd]:
        """How the ranks that mpirun has started here ended, as far as they wrote it down; each is returned once."""
        if self.mpi is None:
            return []
        from runyard.node.mpi import exits as written

        found = []
        running = {each.rank: each for each in self.ranks if each.rank not in self._reported}
        for rank, code in written(self.folder).items():
            if rank not in running:
                continue
            self._reported.add(rank)
            seen = (self.folder / "streams" / f"rank_{rank}.exit").stat().st_mtime
            exit = Exit(None, code - 128) if 128 < code < 128 + signal.NSIG else Exit(code, None)
            at = time.monotonic() - max(time.time() - seen, 0.0)  # the clock may have been put back since
            found.append(self._rank_end(running[rank], exit, at, self._rank_log(rank)))
        return found

    def _rank_end(self, rank: Rank, exit: Exit, at: float, log: Path) -> RankEnd:
        try:
            logged = os.stat(log).st_mtime
        except OSError:
            logged = 0.0
        error = None
        if not exit.ok and (self._stopped_at is None or at < self._stopped_at):
            error = self._describe(rank, exit, log)
            if self._inputs is not None:
                error = self._inputs.told(error)
        return RankEnd(rank.rank, rank.node, exit.code, exit.signal, at, logged, error)

    def _describe(self, rank: Rank, exit: Exit, log: Path) -> dict[str, Any]:
        from runyard.node.outcome import failure

        if not self.plan.distribution.gang:
            return failure.describe(self.plan.launch, exit, self.work, log, self._starved(exit))
        role = f" ({rank.role})" if rank.role == PARAMETER_SERVER else ""
        who = f"Rank {rank.rank}{role} on node {rank.node} ({self.host})"
        error = failure.describe(self.plan.launch, exit, self.work, log, self._starved(exit), who)
        return {**error, "rank": rank.rank, "node": rank.node}

    def _starved(self, exit: Exit) -> bool:
        """Whether this may be a process that the kernel has ended for lack of memory since this runner began."""
        return exits.killed_by(exit) == signal.SIGKILL and exits.memory_kills() > self._memory_kills

    def _remove_files_of_mpi(self) -> None:
        if self.mpi is not None:
            from runyard.node.mpi import remove_files

            remove_files(self.folder)

    def _remove_containers(self) -> None:
        if self.built is not None and self.built.image:
            from runyard.environments.containers.runtime import remove_containers

            remove_containers(self.plan.run_id, log_line, self.plan.node)
