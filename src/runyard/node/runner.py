"""The node runner: takes one run from its plan to its end, in one process beside the user's script.

The main thread prepares, launches and supervises; `delivery.run_delivery` is the thread that talks to the server.
Nothing that only shipping needs is loaded before the script has been started.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from runyard.contracts.history import SCRIPT_LOG
from runyard.contracts.plan import Plan
from runyard.node.launch import launch, processes, variables
from runyard.node.launch.children import Child, Ranks
from runyard.node.lock import take_lock
from runyard.node.log import say
from runyard.node.outcome import exits
from runyard.node.prepare import environment
from runyard.node.prepare.mlflow_warning import MlflowWatch
from runyard.node.prepare.prepare import prepare
from runyard.node.problem import RunProblem, Stopped
from runyard.node.signals import Signals
from runyard.node.state import CANCELLED, ENDED, OVERDUE, PREPARING, RUNNING, Launched, State, machine
from runyard.system.json_files import BadFile
from runyard.system.processes import started

if TYPE_CHECKING:
    from runyard.environments.prepare import Ready
    from runyard.node.delivery.run_delivery import Shipping

LOOK_EVERY = 1.0  # for a folder that is gone
LOOKED_AT_FOR = 1.0  # seconds in which whoever looks whether a folder is locked has let go of it


def main(arguments: list[str], signals: Signals) -> int:
    rescuing = arguments[1:] == ["--rescue"]
    if not arguments or (arguments[1:] and not rescuing):
        print("usage: python <sdk folder>/runyard/node <run folder> [--rescue]", file=sys.stderr)
        return 2
    folder = Path(arguments[0]).absolute()
    lock = take_lock(folder, LOOKED_AT_FOR)
    if lock is None:
        say(f"another node runner is at work in {folder}")
        return 0
    with lock:
        try:
            plan = Plan.load(folder)
        except BadFile as error:
            say(f"there is nothing that can be run or delivered here: {error}")
            return 1
        if rescuing:
            from runyard.node.rescue.rescue import rescue

            return rescue(plan, folder, signals)
        if plan.distribution.gang:
            from runyard.node.gang import part

            code = part(plan, folder, signals)
        else:
            code = Runner(plan, folder, signals).run()
        if code == 0 and plan.server_file is None:  # on the disk of this node, not on the server's
            from runyard.node.rescue.left_behind import deliver_left_behind

            deliver_left_behind(plan, folder, signals)
        return code


class Runner:
    def __init__(self, plan: Plan, folder: Path, signals: Signals) -> None:
        self._plan, self._folder, self._signals = plan, folder, signals
        me = Launched(os.getpid(), started(os.getpid()))
        self._state = State(PREPARING, me, os.urandom(16).hex(), machine=machine())
        self._ranks = Ranks(self._state.cookie, plan.grace_seconds, signals)
        self._memory_kills = exits.memory_kills()
        self._environment: Ready | None = None  # held for as long as the run lives, so that nobody removes it
        self._shipping: Shipping | None = None

    def run(self) -> int:
        processes.adopt_orphans()
        os.environ[processes.COOKIE] = self._state.cookie  # for the tools that build the environment
        self._state.save(self._folder)
        try:
            child = self._start()
        except (RunProblem, Stopped) as problem:
            return self._not_started(problem)
        try:
            return self._supervise(child)
        finally:
            # Also when something went wrong here: nothing of a run outlives it.
            if child.exit is None:
                self._end_processes()

    def _start(self) -> Child:
        prepare(self._plan, self._folder, self._check_stop)
        self._environment = environment.ready(self._plan, self._folder, self._check_stop, self._tell_preparing)
        built = self._environment.built if self._environment is not None else None
        work = self._folder / "work"
        known = variables.for_script(self._plan, self._folder, self._state.cookie, os.environ, built)
        argv = launch.program(self._plan.launch, work, known, built)
        if built is not None and built.image:
            argv, known = launch.contained(argv, self._plan, self._folder, known, built.image), dict(os.environ)
        self._check_stop()
        self._mlflow = MlflowWatch(self._plan.launch, work)
        child = self._ranks.start(argv, work, known, self._folder / "streams" / SCRIPT_LOG)
        self._state = replace(self._state, phase=RUNNING, processes=self._ranks.launched())
        self._state.save(self._folder)
        return child

    def _check_stop(self) -> None:
        if self._signals.stop_asked or (self._shipping is not None and self._unwanted(self._shipping)):
            raise Stopped

    def _tell_preparing(self, reason: str) -> None:
        """Something takes long before the script can start: from now on the server hears of it."""
        self._ship().tell({"fact": "preparing", "reason": reason})

    def _not_started(self, problem: Exception) -> int:
        from runyard.node.delivery import run_delivery as shipping
        from runyard.node.facts import ended
        from runyard.node.outcome import outcome

        if isinstance(problem, RunProblem):
            say(f"the script was not started: {problem.message}")
            end = ended("failed", problem.as_error())
        else:
            say("the run was cancelled before its script was started")
            end = outcome.before_start()
        return shipping.deliver(self._ship(), end, self._folder, self._signals)

    def _supervise(self, child: Child) -> int:
        # All at once, now: the folder with this code may be gone when the script ends, days later.
        from runyard.node import facts
        from runyard.node.delivery.removal import remove
        from runyard.node.delivery.run_delivery import deliver
        from runyard.node.outcome import outcome

        shipping = self._ship()
        shipping.tell(self._mlflow.started(facts.started()))
        self._wait_for_end(child, shipping)
        if self._unwanted(shipping):
            say("the run's folder is gone, or nobody waits for the run any more")
            remove(self._folder)
            return 0
        assert child.exit is not None
        starved = exits.memory_kills() > self._memory_kills
        end = self._mlflow.ended(outcome.of_exit(self._plan, self._folder, child.exit, self._state.stop, starved))
        self._state = replace(self._state, phase=ENDED, ended=end)
        self._state.save(self._folder)
        say(f"process {child.pid} ended: {exits.words(child.exit, starved)}")
        shipping.tell({"fact": "finalizing"})
        self._ranks.end_leftovers()
        self._remove_containers()
        return deliver(shipping, end, self._folder, self._signals)

    def _wait_for_end(self, child: Child, shipping: Shipping) -> None:
        """Return when the script has ended, by itself or because it had to."""
        limit = self._plan.launch.max_run_duration_seconds
        deadline = None if limit is None else time.monotonic() + limit
        while True:
            self._ranks.reap()
            if child.exit is not None:
                # A cluster that stops a run tells the script as well, which may be gone before we look.
                if self._signals.stop_asked and exits.killed_by(child.exit) == signal.SIGTERM:
                    self._stop(CANCELLED)
                return
            if self._signals.stop_asked:
                self._stop(CANCELLED)
            elif deadline is not None and time.monotonic() >= deadline:
                self._stop(OVERDUE)
            if self._state.stop is not None or self._unwanted(shipping):
                self._end_processes()
                return
            left = LOOK_EVERY if deadline is None else min(LOOK_EVERY, deadline - time.monotonic())
            self._signals.wait(left)

    def _stop(self, why: str) -> None:
        say(f"ending the run: it is {why}")
        self._state = replace(self._state, stop=why)
        self._state.save(self._folder)

    def _end_processes(self) -> None:
        self._ranks.end()
        self._remove_containers()

    def _remove_containers(self) -> None:
        if self._environment is not None and self._environment.built.image:
            from runyard.environments.containers.runtime import remove_containers

            remove_containers(self._plan.run_id, say)

    def _unwanted(self, shipping: Shipping) -> bool:
        return shipping.unwanted or not (self._folder / "plan.json").exists()

    def _ship(self) -> Shipping:
        if self._shipping is None:
            from runyard.node.delivery.run_delivery import Shipping

            self._shipping = Shipping(self._plan, self._folder, self._signals)
        return self._shipping
