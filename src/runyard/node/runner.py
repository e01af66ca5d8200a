"""The node runner: takes one run from its plan to its end, in one process beside the user's script.

A run on one node and node 0 of a run over several go the same road: prepare, start, supervise, stop, deliver. What is
on this node is `crew`; the other nodes, where there are any, are led by `gang.leader`. The main thread does all of it;
`delivery.run_delivery` is the thread that talks to the server, where a run lives long enough to need one. Nothing that
only the delivery needs, or only a gang, is loaded before the script of a run on one node has been started.
"""

from __future__ import annotations

import gc
import signal
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Mapping

from runyard.contracts.distribution import Rank
from runyard.contracts.plan import Plan
from runyard.node.crew import Crew
from runyard.node.lock import take_lock
from runyard.node.log import log_line
from runyard.node.outcome import exits
from runyard.node.outcome.rank_ends import RankEnds
from runyard.node.problem import RunProblem, Stopped, Unwanted
from runyard.node.signals import Signals
from runyard.node.state import CANCELLED, ENDED, OVERDUE
from runyard.system.json_files import BadFile

if TYPE_CHECKING:
    from runyard.node.facts import Fact
    from runyard.node.gang.leader import Leader
    from runyard.node.launch.children import Child
    from runyard.node.launch.meeting import Meeting
    from runyard.node.mpi import Spawned

LOOK_EVERY = 1.0  # for a folder that is gone
LOCK_PROBED_FOR = 1.0  # seconds for which somebody who only looks whether a folder is locked may hold its lock


def main(arguments: list[str], signals: Signals) -> int:
    rescuing = arguments[1:] == ["--rescue"]
    if not arguments or (arguments[1:] and not rescuing):
        print("usage: python <sdk folder>/runyard/node <run folder> [--rescue]", file=sys.stderr)
        return 2
    folder = Path(arguments[0]).absolute()
    lock = take_lock(folder, LOCK_PROBED_FOR)
    if lock is None:
        log_line(f"another node runner is at work in {folder}")
        return 0
    with lock:
        if rescuing:
            gc.enable()
        try:
            plan = Plan.load(folder)
        except BadFile as error:
            log_line(f"there is nothing that can be run or delivered here: {error}")
            return 1
        if plan.launch.service or plan.distribution.gang:
            gc.enable()  # where it is one run on one node, when that lives long enough for `RunDelivery.begin`
        if plan.launch.service:
            from runyard.node.services.keeper import keep

            return keep(plan, folder, signals, rescuing)
        if rescuing:
            from runyard.node.rescue.rescue import rescue

            return rescue(plan, folder, signals)
        if plan.node > 0:
            from runyard.node.gang.follower import Follower

            code = Follower(plan, folder, signals).run()
        else:
            code = Runner(plan, folder, signals).run()
        if code == 0 and plan.server_file is None:  # on the disk of this node, not on the server's
            from runyard.node.rescue.left_behind import deliver_left_behind

            deliver_left_behind(plan, folder, signals)
        return code


class Runner:
    """Node 0 of a run: all of it, where it has one node."""

    def __init__(self, plan: Plan, folder: Path, signals: Signals) -> None:
        self._plan, self._folder, self._signals = plan, folder, signals
        self._distribution = plan.distribution
        self._crew = Crew(plan, folder, signals)
        self._ends = RankEnds(self._distribution)
        self._leader: Leader | None = None  # of the other nodes, where there are any
        self._mpirun: Child | None = None
        self._open = ExitStack()  # what mpirun needs for as long as it runs
        self._ended = False  # the processes of this node are ended, and the other nodes are ending theirs
        self._late: list[Rank] = []  # ranks that were not done when the time was up

    def run(self) -> int:
        self._crew.enlist()
        try:
            with self._open:
                try:
                    self._start()
                except (RunProblem, Stopped) as problem:
                    return self._not_started(problem)
                return self._supervise()
        except Unwanted as why:
            return self._leave(why)
        finally:
            # Also when something went wrong here: nothing of a run outlives it.
            self._end_processes()
            if self._leader is not None:
                self._leader.close()
            self._crew.close()

    # -- before the processes run ------------------------------------------------------------------------------------

    def _start(self) -> None:
        address = "127.0.0.1"
        if self._distribution.nodes > 1:
            from runyard.node.gang.leader import Leader

            self._leader = Leader(self._plan, self._folder, self._signals, self._ends)
            address = self._leader.address
        self._crew.get_ready(address, self._check, self._report_preparing)
        self._check()
        meeting = self._meet(address) if self._distribution.gang else None
        if meeting is not None and meeting.mpirun:
            self._start_mpirun(meeting)
            return
        orders = self._crew.orders(meeting)
        if self._leader is not None and meeting is not None:
            self._leader.start(meeting)
        self._crew.start(orders)

    def _meet(self, address: str) -> Meeting:
        """What the processes must know of each other, once all nodes are ready."""
        from runyard.node.launch.meeting import meet

        others = []
        if self._leader is not None:
            others = self._leader.wait_until_ready(self._check, self._report_preparing)
        assert self._crew.ports is not None
        without = [f"node {member.node}" for member in others if not member.mpi]
        if self._crew.mpi is not None and without:
            log_line(f"MPI: none was found on {', '.join(without)}, so the ranks are started without")
            self._crew.mpi = None
        return meet(
            self._distribution,
            [address, *(member.address for member in others)],
            [self._crew.host, *(member.host for member in others)],
            [self._crew.ports.numbers, *(member.ports for member in others)],
            str(self._folder / "temp") if all(member.shares_work for member in others) else None,
            self._crew.mpi is not None,
        )

    def _start_mpirun(self, meeting: Meeting) -> None:
        from runyard.node.mpi import Agents

        assert self._crew.mpi is not None
        self._open.enter_context(Agents(self._folder, self._crew.mpi, self._spawn))
        argv, variables = self._crew.mpirun(meeting)
        if self._leader is not None:
            self._leader.start(meeting)
        self._mpirun = self._crew.spawn(argv, variables)

    def _spawn(self, node: int, argv: list[str], variables: Mapping[str, str]) -> Spawned:
        """Start what mpirun needs on another node; called from a thread of mpirun's agents."""
        if self._leader is None:
            raise RunProblem("MpiNotUsable", f"mpirun asked for node {node} of a run that has one node.")
        return self._leader.spawn(node, argv, variables)

    def _check(self) -> None:
        """Raise what prevents the run from being started, if something does."""
        if self._stop_requested():
            raise Stopped
        self._check_wanted()
        if self._leader is not None:
            self._leader.check()

    def _report_preparing(self, reason: str) -> None:
        """Something takes long before the script can start: from now on the server knows of it."""
        self._crew.delivery().report({"fact": "preparing", "reason": reason})

    def _not_started(self, problem: Exception) -> int:
        from runyard.node.facts import ended
        from runyard.node.outcome import outcome

        if isinstance(problem, RunProblem):
            log_line(f"the script was not started: {problem.message}")
            end = ended("failed", problem.as_error())
        else:
            log_line("the run was cancelled before its script was started")
            end = outcome.before_start()
        self._end_processes()
        self._open.close()
        self._crew.save(phase=ENDED, ended=end)
        return self._deliver(end)

    # -- while they run ----------------------------------------------------------------------------------------------

    def _supervise(self) -> int:
        from runyard.node import facts
        from runyard.node.outcome import outcome  # noqa: F401 - see load_the_rest

        self._crew.load_the_rest()
        if self._leader is not None:
            self._leader.load_the_rest()
        delivery = self._crew.delivery(patient=self._leader is None)
        delivery.report(facts.started())
        stop = self._wait_for_end()
        if stop is not None:
            log_line(f"ending the run: it is {stop}")
            self._crew.save(stop=stop)
        if not self._ends.complete():  # how the others end may show what went wrong
            self._end_everywhere()
        end = self._judge(stop)
        self._crew.save(phase=ENDED, ended=end)
        delivery.report({"fact": "finalizing"})
        self._end_everywhere()
        return self._deliver(end)

    def _wait_for_end(self) -> str | None:
        """Return when the run has ended or must end: why it is stopped, or None when it was not."""
        limit = self._plan.launch.max_run_duration_seconds
        deadline = None if limit is None else time.monotonic() + limit
        while True:
            self._ends.add(self._crew.reap()[0])
            stop_requested = self._stop_requested()
            self._check_wanted()
            if self._has_ended():
                return None
            if stop_requested:
                return CANCELLED
            if deadline is not None and time.monotonic() >= deadline:
                self._late = self._ends.unfinished()
                return OVERDUE
            self._crew.observe()
            left = LOOK_EVERY if deadline is None else min(LOOK_EVERY, deadline - time.monotonic())
            self._signals.wait(min(left, self._crew.begin_when_due()))

    def _has_ended(self) -> bool:
        if self._leader is not None and self._leader.broken:
            return True
        if self._mpirun is not None and self._mpirun.exit is not None:
            return True
        return self._done() or self._ends.any_failed()

    def _done(self) -> bool:
        """Whether the processes have done all that there was to do."""
        if self._mpirun is not None:  # which may end well although a rank has not
            return self._mpirun.exit is not None and self._mpirun.exit.ok and not self._ends.any_failed()
        return self._ends.done()

    def _stop_requested(self) -> bool:
        """Whether this node, or another one, was asked to stop the run."""
        if self._leader is not None:
            self._leader.receive()
            if self._leader.stop_requested:
                return True
        return self._signals.stop_requested

    def _check_wanted(self) -> None:
        self._crew.check_wanted()
        if self._leader is not None:
            self._leader.check_wanted()

    # -- when they have ended ----------------------------------------------------------------------------------------

    def _end_processes(self) -> None:
        """End what is alive of the run here, and have the other nodes do the same."""
        if not self._ended:
            self._ended = True
            if self._leader is not None:
                self._leader.end()
            self._ends.add(self._crew.end()[0])

    def _end_everywhere(self) -> None:
        """Return when nothing of the run is alive any more, on any node."""
        self._end_processes()
        if self._leader is not None:
            self._leader.wait_until_ended()
        self._open.close()

    def _judge(self, stop: str | None) -> Fact:
        """How the run has ended. What happened first counts, on whichever node."""
        from runyard.node.outcome import outcome

        error = self._first_failure()
        # A cluster that stops a run sends SIGTERM to its processes as well, which may have ended before we look.
        if stop is None and self._stop_requested() and exits.killed_by_fields(error) == signal.SIGTERM:
            stop = CANCELLED
        if not self._distribution.gang:
            return outcome.of_exit(self._plan, self._ends.of(0).exit, stop, error)
        return outcome.of_gang(self._plan, stop, error, self._done(), self._late)

    def _first_failure(self) -> dict[str, Any] | None:
        if self._leader is not None and self._leader.problem is not None:
            return self._leader.problem
        if self._done():
            return None
        first = self._ends.first_failure()
        lost = self._leader.lost_before(first) if self._leader is not None else None
        if lost is not None:
            return lost
        if first is not None:
            return first.error
        mpirun = self._mpirun
        if mpirun is None or mpirun.exit is None:
            return None
        from runyard.node.outcome import failure

        return failure.describe(self._plan.launch, mpirun.exit, self._crew.work, mpirun.log, who="mpirun")

    def _deliver(self, end: Fact) -> int:
        """Deliver what is here while the other nodes deliver what they have; report the end when all is there."""
        from runyard.node.delivery.run_delivery import await_delivery, deliver

        delivery = self._crew.delivery(patient=self._leader is None)
        if self._leader is None:
            return deliver(delivery, end, self._folder, self._signals)
        delivery.hold_report()
        delivery.finish(end)
        delivery.release_report(self._leader.wait_until_delivered(delivery))
        return await_delivery(delivery, self._folder, self._signals)

    def _leave(self, why: Unwanted) -> int:
        from runyard.node.delivery.removal import remove

        log_line(str(why))
        self._end_processes()
        remove(self._folder)
        return 0
