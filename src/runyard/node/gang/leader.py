"""Node 0 of a gang: brings the nodes together, starts its own processes, and decides how the run has ended.

The main thread does all of it. What followers say comes through a queue, from the threads behind `Door`.
"""

from __future__ import annotations

import os
import queue
import signal
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Mapping

from runyard.contracts.distribution import CHIEF, MPI, PARAMETER_SERVER, WORKER, Rank
from runyard.contracts.plan import Plan
from runyard.node import facts
from runyard.node.gang import roster
from runyard.node.gang.crew import WITNESS, Crew, RankEnd
from runyard.node.gang.followers import Door
from runyard.node.gang.link import LOST, Message, own_address
from runyard.node.gang.publish import Publisher
from runyard.node.gang.roster import Roster
from runyard.node.gang.spawned import Spawned, Spawns
from runyard.node.launch import meeting
from runyard.node.launch.children import Child
from runyard.node.launch.meeting import Meeting
from runyard.node.launch.processes import HOPELESS_AFTER
from runyard.node.log import say
from runyard.node.outcome import failure, outcome
from runyard.node.prepare.mlflow_warning import MlflowWatch
from runyard.node.problem import RunProblem, Stopped
from runyard.node.signals import Signals
from runyard.node.state import CANCELLED, ENDED, OVERDUE

if TYPE_CHECKING:
    from runyard.node.delivery.run_delivery import Shipping

LOOK_EVERY = 1.0  # for a folder that is gone
HERE_WITHIN = 120.0  # seconds for the followers to say hello
TELL_AFTER = 0.5  # seconds of waiting for other nodes after which the server hears of it
OVER_WITHIN = HOPELESS_AFTER + 15.0  # seconds for the followers to end their processes, on top of the grace
SERVED_FOR = 5.0  # seconds after the end of a chief in which its workers may end by themselves
DELIVERED_WITHIN = 4000.0  # seconds for the followers to deliver: one that finds no server gives up before


class Unwanted(Exception):
    """Nobody waits for the run any more, or its folder is gone."""


class Leader:
    def __init__(self, plan: Plan, folder: Path, signals: Signals) -> None:
        self._plan, self._folder, self._signals = plan, folder, signals
        self._distribution = plan.distribution
        self._led = any(rank.role == CHIEF for rank in self._distribution.ranks())
        self._crew = Crew(plan, folder, signals)
        self._roster = Roster(self._distribution)
        self._said: queue.SimpleQueue[tuple[int, Message]] = queue.SimpleQueue()
        self._ends: list[RankEnd] = []  # of this node
        self._mpirun: Child | None = None
        self._spawns = Spawns(self._send)
        self._door: Door | None = None
        self._publisher: Publisher | None = None
        self._shipping: Shipping | None = None
        self._address = "127.0.0.1"
        self._open = ExitStack()  # what mpirun needs for as long as it runs
        self._over = False  # the processes of this node are ended, and the others were told to end theirs
        self._late: list[Rank] = []  # who was not done when the time was up

    def run(self) -> int:
        self._crew.enlist()
        try:
            with self._open:
                try:
                    self._start()
                except (RunProblem, Stopped) as problem:
                    return self._not_started(problem)
                return self._supervise()
        except Unwanted:
            return self._leave()
        finally:
            # Also when something went wrong here: nothing of a run outlives it.
            self._end_processes()
            if self._door is not None:
                self._door.close()

    # -- before the processes run ------------------------------------------------------------------------------------

    def _start(self) -> None:
        if self._distribution.nodes > 1:
            self._gather()
        self._crew.get_ready(self._address, self._check, self._tell_preparing)
        self._wait_for_nodes()
        place = self._meet()
        self._mlflow = MlflowWatch(self._plan.launch, self._crew.work)
        if self._distribution.kind == MPI:
            self._start_mpirun(place)
            return
        orders = self._crew.orders(place)
        self._send_all("go", meeting=place.as_dict())
        self._crew.start(orders)

    def _gather(self) -> None:
        """Listen for the followers, and tell the server where."""
        word = os.urandom(16).hex()
        (self._folder / WITNESS).write_text(word, "ascii")
        self._address = own_address(self._plan.server_url)
        greeting = {"folder": str(self._folder), "word": word}
        self._door = Door(self._address, self._plan.link, self._distribution.nodes, greeting, self._hear)
        self._publisher = Publisher(self._plan, self._folder, self._door.place, self._signals.wake)
        say(f"leading {self._distribution.nodes} nodes, at {self._door.place}")

    def _wait_for_nodes(self) -> None:
        began, told = time.monotonic(), -1
        self._check()
        while not all(member.ready for member in self._roster.members.values()):
            ready = 1 + sum(member.ready for member in self._roster.members.values())
            if ready != told and time.monotonic() - began > TELL_AFTER:
                self._tell_preparing(f"{ready} of {self._distribution.nodes} nodes are ready")
                told = ready
            self._signals.wait(TELL_AFTER)
            self._check()

    def _meet(self) -> Meeting:
        members = [self._roster.members[node] for node in sorted(self._roster.members)]
        assert self._crew.ports is not None
        sharing = [member.node for member in members if member.shares_work]
        if self._plan.attempt > 1 and sharing:
            from runyard.node.prepare.former_outputs import give_back_of

            give_back_of(sharing, self._plan, self._folder, self._check)
        return meeting.meet(
            self._distribution,
            [self._address, *(member.address for member in members)],
            [self._crew.host, *(member.host for member in members)],
            [self._crew.ports.numbers, *(member.ports for member in members)],
            str(self._folder / "temp") if len(sharing) == len(members) else None,
        )

    def _start_mpirun(self, place: Meeting) -> None:
        from runyard.node.mpi import Agents

        assert self._crew.mpi is not None
        self._open.enter_context(Agents(self._folder, self._crew.mpi, self._spawn))
        argv, known = self._crew.mpirun(place)
        self._send_all("go", meeting=place.as_dict())
        self._mpirun = self._crew.spawn(argv, known)

    def _check(self) -> None:
        """Raise what keeps the run from being started, if something does."""
        self._take_note()
        if self._signals.stop_asked or self._roster.stop_asked:
            raise Stopped
        self._check_wanted()
        if self._roster.problem is not None:
            problem = self._roster.problem
            raise RunProblem(str(problem["code"]), str(problem["message"]), str(problem.get("help") or ""))
        gone = self._roster.first_lost()
        if gone is not None:
            error = roster.lost(gone)
            raise RunProblem(error["code"], error["message"], error["help"])
        since = self._publisher.published_at if self._publisher is not None else None
        if since is not None and time.monotonic() - since > HERE_WITHIN and self._roster.absent():
            raise roster.incomplete(self._roster.absent(), self._distribution.nodes, HERE_WITHIN)

    def _not_started(self, problem: Exception) -> int:
        if isinstance(problem, RunProblem):
            say(f"the run was not started: {problem.message}")
            end = facts.ended("failed", problem.as_error())
        else:
            say("the run was cancelled before its script was started")
            end = outcome.before_start()
        self._end_processes()
        self._open.close()
        self._crew.save(phase=ENDED, ended=end)
        return self._deliver(end)

    # -- while they run ----------------------------------------------------------------------------------------------

    def _supervise(self) -> int:
        # All at once, now: the folder with this code may be gone when the script ends, days later.
        from runyard.node.rescue import rescue  # noqa: F401

        self._ship().tell(self._mlflow.started(facts.started()))
        stop = self._wait_for_end()
        if stop is not None:
            say(f"ending the run: it is {stop}")
            self._crew.save(stop=stop)
        self._end_processes()
        self._wait_until_over()
        self._open.close()
        end = self._mlflow.ended(self._judge(stop))
        self._crew.save(phase=ENDED, ended=end)
        self._ship().tell({"fact": "finalizing"})
        return self._deliver(end)

    def _wait_for_end(self) -> str | None:
        """Return when the run has ended or must end: why it is stopped, or None when it was not."""
        limit = self._plan.launch.max_run_duration_seconds
        deadline = None if limit is None else time.monotonic() + limit
        while True:
            self._ends += self._crew.reap()[0]
            self._take_note()
            self._check_wanted()
            if self._has_ended():
                return None
            if self._signals.stop_asked or self._roster.stop_asked:
                return CANCELLED
            if deadline is not None and time.monotonic() >= deadline:
                self._late = self._unfinished()
                return OVERDUE
            left = LOOK_EVERY if deadline is None else min(LOOK_EVERY, deadline - time.monotonic())
            self._signals.wait(left)

    def _has_ended(self) -> bool:
        if self._roster.problem is not None or self._roster.first_lost() is not None:
            return True
        if self._mpirun is not None and self._mpirun.exit is not None:
            return True
        return self._done() or any(not end.exit.ok for end in [*self._ends, *self._roster.ends])

    def _done(self) -> bool:
        """Whether the processes have done all that was to do. Parameter servers would wait for ever: they are done
        when the others are. So would workers that only serve a chief: they are done a while after it."""
        if self._mpirun is not None:  # which may end well although a rank has not
            well = all(end.exit.ok for end in [*self._ends, *self._roster.ends])
            return well and self._mpirun.exit is not None and self._mpirun.exit.ok
        left = {each.role for each in self._unfinished()}
        chief = next((end for end in self._ends if end.rank == 0 and end.exit.ok), None)
        if self._led and chief is not None and time.monotonic() - chief.at > SERVED_FOR:
            left.discard(WORKER)
        return not left - {PARAMETER_SERVER}

    def _unfinished(self) -> list[Rank]:
        """The processes that have not ended well so far."""
        well = {end.rank for end in [*self._ends, *self._roster.ends] if end.exit.ok}
        return [each for each in self._distribution.ranks() if each.rank not in well]

    def _end_processes(self) -> None:
        """End what runs of the run, on all nodes."""
        if not self._over:
            self._over = True
            self._send_all("end")
            self._ends += self._crew.end()[0]

    def _wait_until_over(self) -> None:
        """Wait for the other nodes to end their processes; one that does not is lost."""
        deadline = time.monotonic() + self._plan.grace_seconds + OVER_WITHIN
        self._take_note()
        while not self._roster.over():
            if time.monotonic() > deadline:
                for member in self._roster.members.values():
                    if not member.over:
                        self._roster.lose(member.node, "it did not end its processes in time", time.monotonic())
            self._signals.wait(LOOK_EVERY)
            self._take_note()

    def _judge(self, stop: str | None) -> facts.Fact:
        """How the run has ended. What happened first counts, on whichever node."""
        ends = [*self._ends, *self._roster.ends]
        error = self._first_failure(ends)
        asked = self._signals.stop_asked or self._roster.stop_asked
        if stop is None and asked and (error or {}).get("exit", {}).get("signal") == signal.SIGTERM:
            stop = CANCELLED  # a cluster that stops a run tells its processes as well
        return outcome.of_gang(self._plan, stop, error, self._done(), self._late)

    def _first_failure(self, ends: list[RankEnd]) -> dict[str, Any] | None:
        if self._roster.problem is not None:
            return self._roster.problem
        if self._done():
            return None
        bad = [end for end in ends if end.error is not None]
        first = min(bad, key=lambda end: (end.at, end.logged)) if bad else None
        gone = self._roster.first_lost()
        if gone is not None and (first is None or gone.lost_at <= first.at):
            return roster.lost(gone)
        mpirun = self._mpirun
        if first is None and mpirun is not None and mpirun.exit is not None:
            return failure.describe(self._plan.launch, mpirun.exit, self._crew.work, mpirun.log, who="mpirun")
        return first.error if first is not None else None

    # -- when they have ended ----------------------------------------------------------------------------------------

    def _deliver(self, end: facts.Fact) -> int:
        """Deliver what is here while the followers deliver what they have; report the end when all is there."""
        from runyard.node.delivery.run_delivery import await_delivery
        from runyard.node.rescue.rescue import rescue_nodes

        shipping = self._ship()
        shipping.hold_report()
        shipping.finish(end)
        deadline = time.monotonic() + DELIVERED_WITHIN
        self._take_note()
        while self._roster.delivering() and not shipping.unwanted and time.monotonic() < deadline:
            self._signals.wait(LOOK_EVERY)
            self._take_note()
        left = [member for member in self._roster.members.values() if not member.delivered]
        if left and not shipping.unwanted:
            done = rescue_nodes(self._plan, self._folder, [member.node for member in left], self._signals)
            self._roster.warnings += [roster.undelivered(member) for member in left if member.node not in done]
        shipping.release_report(self._roster.warnings)
        return await_delivery(shipping, self._folder, self._signals)

    def _leave(self) -> int:
        from runyard.node.delivery.removal import remove

        say("the run's folder is gone, or nobody waits for the run any more")
        self._end_processes()
        remove(self._folder)
        return 0

    # -- what came in ------------------------------------------------------------------------------------------------

    def _hear(self, node: int, said: Message) -> None:
        """Called from the threads behind the door."""
        self._said.put((node, said))
        self._signals.wake()

    def _take_note(self) -> None:
        while True:
            try:
                node, said = self._said.get_nowait()
            except queue.Empty:
                break
            if said["say"] == "spawned_ended":
                self._spawns.ended(int(said["number"]), int(said["code"]))
                continue
            assert self._door is not None
            self._roster.note(node, said, self._door.heard(node))
            if said["say"] == LOST:
                self._spawns.lost(node)
            elif said["say"] == "hello" and self._over:
                self._send(node, "end")  # it comes too late

    def _send(self, node: int, say: str, **more: Any) -> None:
        if self._door is not None:
            self._door.send(node, say, **more)

    def _send_all(self, say: str, **more: Any) -> None:
        if self._door is not None:
            self._door.send_all(say, **more)

    def _spawn(self, node: int, argv: list[str], known: Mapping[str, str]) -> Spawned:
        """Called from a thread of mpirun's agents."""
        return self._spawns.start(node, argv, known)

    def _check_wanted(self) -> None:
        refused = self._publisher.refused if self._publisher is not None else None
        if refused is not None:
            say(f"the server does not want this run to go on: {refused}")
            raise Unwanted
        if self._shipping is not None and self._shipping.unwanted:
            raise Unwanted
        if not (self._folder / "plan.json").exists():
            raise Unwanted

    def _tell_preparing(self, reason: str) -> None:
        self._ship().tell({"fact": "preparing", "reason": reason})

    def _ship(self) -> Shipping:
        if self._shipping is None:
            from runyard.node.delivery.run_delivery import Shipping

            self._shipping = Shipping(self._plan, self._folder, self._signals)
        return self._shipping
