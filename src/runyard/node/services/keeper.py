"""Keeping a replica of a service up: from its preparation over its restarts to its drain.

The node runner holds the listening socket too, and never accepts on it: while the process is started anew, callers wait
in the kernel's queue instead of being refused. A runner that is killed leaves the process alone; its successor comes
with `--rescue`, finds the process and goes on.
"""

from __future__ import annotations

import errno
import glob
import os
import shutil
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runyard.contracts.plan import OVER, Plan
from runyard.contracts.services import states
from runyard.contracts.services.plan import ServicePlan
from runyard.contracts.services.worker import DRAINING, READY, WorkerStatus
from runyard.node import facts
from runyard.node import state as states_of_runner
from runyard.node.crew import Crew
from runyard.node.launch import launch, processes
from runyard.node.log import log_line
from runyard.node.outcome import exits, outcome
from runyard.node.prepare.layout import out_of_disk
from runyard.node.prepare.models import bring_models
from runyard.node.problem import RunProblem, Stopped, Unwanted
from runyard.node.services import cause
from runyard.node.services.limits import Limits, end_hard, resident
from runyard.node.services.probe import Prober
from runyard.node.services.process import (
    Process,
    argv,
    forget_status,
    is_waited_for,
    read_status,
    variables,
    write_settings,
)
from runyard.node.signals import Signals
from runyard.node.state import CANCELLED, ENDED, PREPARING, RUNNING, State, machine
from runyard.node.streams import std_log
from runyard.serving import listener
from runyard.system.json_files import BadFile

if TYPE_CHECKING:
    import socket

    from runyard.node.delivery.run_delivery import RunDelivery

LOOK_EVERY = 0.1
TRIES = 3
"""Starts of a replica that was never ready, before it is given up."""

FIRST_PAUSE, LONGEST_PAUSE, FORGIVEN_AFTER = 0.5, 30.0, 60.0
"""Seconds before the second start in a row, at most before any, and of being up after which it begins anew."""

MEMORY_EVERY, TOLD_EVERY = 1.0, 10.0
DRAIN_SLACK = 5.0


def keep(plan: Plan, folder: Path, signals: Signals, rescuing: bool) -> int:
    """The life of a replica in this node runner; returns its exit code."""
    former = states_of_runner.load(folder) if rescuing else None
    if rescuing and (signals.stop_requested or (folder / OVER).exists() or (former is not None and former.ended)):
        from runyard.node.rescue.rescue import rescue

        return rescue(plan, folder, signals)
    return Keeper(plan, folder, signals, former).run()


class Keeper:
    def __init__(self, plan: Plan, folder: Path, signals: Signals, former: State | None) -> None:
        self._plan, self._folder, self._signals = plan, folder, signals
        self._service = ServicePlan.from_dict(plan.launch.service)
        self._crew = Crew(plan, folder, signals)
        self._former = former if former is not None and former.machine in ("", machine()) else None
        self._resumed = former is not None
        self._log = folder / "streams" / std_log(plan.distribution, 0)
        self._process: Process | None = None
        self._was_ready = False
        self._restarts = 0
        self._failures = 0  # starts in a row that led to nothing lasting
        self._error: dict[str, Any] | None = None
        self._start_at = 0.0
        self._told: dict[str, Any] = {}
        self._next_tell = self._next_memory = 0.0
        self._memory = 0
        self._memory_kills = exits.memory_kills_before()
        self._socket: socket.socket | None = None
        self._offer: listener.Offer | None = None

    def run(self) -> int:
        self._enlist()
        try:
            try:
                self._get_ready()
            except (RunProblem, Stopped, BadFile) as problem:
                return self._not_started(problem)
            try:
                return self._supervise()
            except RunProblem as problem:
                return self._not_started(problem)
        except Unwanted as why:
            from runyard.node.delivery.removal import remove

            log_line(str(why))
            self._end_processes()
            remove(self._folder)
            return 0
        finally:
            if self._offer is not None:
                self._offer.close()
            if self._socket is not None:
                self._socket.close()

    # -- before it runs ----------------------------------------------------------------------------------------------

    def _enlist(self) -> None:
        former = self._former
        if former is not None:
            log_line(f"taking over from node runner {former.runner.pid}, which is gone")
            self._crew.state = replace(self._crew.state, cookie=former.cookie, processes=former.processes)
            if former.phase != PREPARING:
                self._crew.state = replace(self._crew.state, phase=former.phase)
        self._crew.enlist()

    def _get_ready(self) -> None:
        work = self._crew.work
        if self._crew.state.phase == PREPARING:
            if self._resumed:
                shutil.rmtree(work, ignore_errors=True)  # half laid out
            self._crew.get_ready("127.0.0.1", self._check, self._report_preparing)
        else:
            self._crew.get_environment(self._check, self._report_preparing)
        if self._crew.built is not None and self._crew.built.image:
            raise RunProblem(
                "ServiceInContainer",
                "The environment of this service is an image, and services run without containers.",
                "Give it an environment of packages: python.conda_dependencies, without a base image.",
            )
        self._models = bring_models(self._plan, self._service.models, self._folder, work, self._check)
        try:
            settings = write_settings(self._plan, self._service, self._folder, work, self._models)
        except OSError as error:
            raise _unwritable(error, self._folder) from error
        of_process = variables(self._crew.variables(), self._service, work, self._models)
        python = launch.python(self._plan.launch, work, of_process, self._crew.built)
        self._argv, self._variables = argv(self._service, python, settings), of_process
        limit = self._service.settings.memory_gb
        self._limits = Limits(
            self._plan.run_id, self._service.settings.cpu, None if limit is None else int(limit * (1 << 30))
        )
        self._prober = Prober(self._service.host, self._service.settings.probes)
        self._listen()

    def _listen(self) -> None:
        try:
            os.makedirs(os.path.dirname(self._service.listener), mode=0o700, exist_ok=True)
            self._socket, self._offer = listener.obtain(self._service.listener, self._service.host, self._service.port)
        except listener.CannotListen as error:
            raise RunProblem(
                "PortTaken", str(error), "Free the port, or deploy the service with another one."
            ) from None
        except OSError as error:
            raise _unwritable(error, Path(self._service.folder)) from error
        if self._offer is not None:
            self._offer.in_thread()

    def _check(self) -> None:
        if self._signals.stop_requested:
            raise Stopped
        self._crew.check_wanted()

    def _report_preparing(self, reason: str) -> None:
        self._delivery().report({"fact": "preparing", "reason": reason})

    def _not_started(self, problem: Exception) -> int:
        if isinstance(problem, Stopped):
            end = outcome.before_start()
        else:
            error = (
                problem.as_error() if isinstance(problem, RunProblem) else {"code": "BadPlan", "message": str(problem)}
            )
            log_line(f"the service was not started: {error.get('message')}")
            end = facts.ended("failed", error)
        self._end_processes()
        return self._deliver(end)

    # -- while it runs -----------------------------------------------------------------------------------------------

    def _supervise(self) -> int:
        self._crew.load_the_rest()
        delivery = self._delivery()
        self._crew.begin_when_due()
        self._adopt()
        delivery.report({**facts.started(), "reason": "its process has started"})
        while True:
            stopping = self._signals.stop_requested
            self._crew.check_wanted()
            if stopping:
                return self._drain()
            now = time.monotonic()
            given_up = None
            if self._process is not None:
                given_up = self._look_after(now)
            elif now >= self._start_at:
                try:
                    self._start()
                except RunProblem as problem:  # no disk or memory for it now: that may pass
                    given_up = self._failed(problem.as_error(), now)
            if given_up is not None:
                log_line(f"the service is given up: {given_up.get('message')}")
                self._end_processes()
                return self._deliver(facts.ended("failed", given_up))
            self._tell(now)
            self._signals.wait(LOOK_EVERY)

    def _adopt(self) -> None:
        """Go on with the process that a former runner has started, if it lives."""
        for launched in self._crew.state.processes:
            process = Process(launched)
            if process.look() is None:
                log_line(f"process {process.pid} of the former runner goes on")
                self._process, self._was_ready = process, True
                return
        self._was_ready = self._resumed and self._crew.state.phase == RUNNING

    def _start(self) -> None:
        forget_status(self._folder)
        self._limit_kills = self._limits.kills()
        self._process = Process.start(self._argv, self._crew.work, self._variables, self._log, self._limits.enter())
        log_line(f"started process {self._process.pid}: {' '.join(self._argv)}")
        self._crew.save(phase=RUNNING, processes=[self._process.launched])
        self._prober.reset()

    def _look_after(self, now: float) -> dict[str, Any] | None:
        """Watch the process; returns why the replica is given up, if it is."""
        assert self._process is not None
        status = read_status(self._folder)
        exit = self._process.look()
        if exit is not None:
            log_line(f"process {self._process.pid} ended: {cause.words(exit)}")
            starved = exits.killed_by(exit) == 9 and self._was_starved()
            error = cause.of_exit(self._plan.launch, self._service, exit, status, self._crew.work, self._log, starved)
            return self._failed(error, now)
        if status is not None and status.state == READY and status.pid == self._process.pid:
            self._was_ready = True
            self._error = None if not self._prober.failures else self._error
            if now - self._process.began > FORGIVEN_AFTER:
                self._failures = 0
            if self._prober.look(status.port) and self._is_alone():
                return self._ended_by_us(cause.no_answer(self._service, self._prober.failures), now)
        elif now - self._process.began > self._service.settings.probes.initial_delay_seconds:
            return self._ended_by_us(cause.not_ready(self._service, now - self._process.began), now)
        return self._look_at_memory(now)

    def _look_at_memory(self, now: float) -> dict[str, Any] | None:
        if now < self._next_memory or self._process is None:
            return None
        self._next_memory = now + MEMORY_EVERY
        members = processes.of_run(self._crew.state.cookie, [self._process.pid])
        self._memory = resident({each.pid for each in members if each.session != os.getsid(0)})
        limit = self._limits.memory
        # Workers beyond their part are replaced one by one by the process itself: this is for what gets past that.
        if limit is not None and not self._limits.held_by_kernel and self._memory > limit * 1.25:
            return self._ended_by_us(cause.too_much_memory(self._service, self._memory), now)
        return None

    def _was_starved(self) -> bool:
        return self._limits.kills() > self._limit_kills or exits.memory_kills() > self._memory_kills

    def _is_alone(self) -> bool:
        """Whether nobody else answers on the service's port: then a check that failed was this process's."""
        place = self._service.listener
        offers = {path.rpartition(".")[2] for path in glob.glob(f"{glob.escape(place)}.*")}
        mine = {str(each.pid) for each in processes.of_run(self._crew.state.cookie, [])} | {str(os.getpid())}
        return not {pid for pid in offers if pid.isdecimal()} - mine

    def _ended_by_us(self, error: dict[str, Any], now: float) -> dict[str, Any] | None:
        assert self._process is not None
        log_line(f"ending process {self._process.pid}: {error['message']}")
        for each in processes.of_run(self._crew.state.cookie, [self._process.pid]):
            if each.session == self._process.pid:
                end_hard(each.pid)
        deadline = time.monotonic() + 10.0
        while self._process.look() is None and time.monotonic() < deadline:
            self._signals.wait(0.05)
        return self._failed(error, now)

    def _failed(self, error: dict[str, Any], now: float) -> dict[str, Any] | None:
        """The process is gone: plan the next start, or give up a replica that was never ready."""
        self._end_leftovers()
        self._process, self._error = None, error
        self._failures += 1
        self._memory_kills = exits.memory_kills()
        if not self._was_ready and (self._failures >= TRIES or cause.is_hopeless(error)):
            return error
        pause = 0.0
        if self._failures > 1 or not self._was_ready:
            pause = min(FIRST_PAUSE * 2.0 ** (self._failures - 1), LONGEST_PAUSE)
        self._restarts += 1
        self._start_at = now + pause
        log_line(f"it is started anew {f'in {pause:g} s' if pause else 'at once'}")
        return None

    # -- what the server is told -------------------------------------------------------------------------------------

    def _tell(self, now: float) -> None:
        """Report how the replica stands, when that has changed; its memory only now and then."""
        status = read_status(self._folder) if self._process is not None else None
        told = self._standing(status)
        same = all(told[key] == self._told.get(key) for key in told if key != "memory")
        if same and (now < self._next_tell or told["memory"] == self._told.get("memory")):
            return
        self._told, self._next_tell = told, now + TOLD_EVERY
        self._delivery().report({"fact": "service", "service": told})

    def _standing(self, status: WorkerStatus | None) -> dict[str, Any]:
        process = self._process
        state, error = states.STARTING, self._error
        if process is None or error is not None:
            state = states.SICK
        if process is not None and status is not None and status.state == READY and status.pid == process.pid:
            failing = self._prober.failures >= self._service.settings.probes.failure_threshold
            state, error = (states.SICK, cause.no_answer(self._service, self._prober.failures)) if failing else (
                states.READY,
                None,
            )  # fmt: skip
        within = status.restarts if status is not None else 0
        return {
            "state": state,
            "pid": None if process is None else process.pid,
            "port": status.port if status is not None else None,
            "restarts": self._restarts + within,
            "memory": self._memory,
            "waiting": self._service.role == states.GATEWAY and is_waited_for(self._folder),
            "error": error,
        }

    # -- its end -----------------------------------------------------------------------------------------------------

    def _await_draining(self, process: Process) -> None:
        """Wait until the process takes no more connections: an update counts as done only then."""
        deadline = time.monotonic() + DRAIN_SLACK
        while self._service.role == states.WORKER and process.look() is None and time.monotonic() < deadline:
            status = read_status(self._folder)
            if status is not None and status.state == DRAINING:
                return
            self._signals.wait(0.02)

    def _drain(self) -> int:
        """Let the process answer what it has begun, and end."""
        process = self._process
        seconds = self._service.settings.drain_seconds + DRAIN_SLACK
        self._crew.save(stop=CANCELLED)
        if process is not None and process.look() is None:
            log_line(f"draining process {process.pid}, for {seconds:g} s at most")
            process.drain()
            deadline = time.monotonic() + seconds
            self._await_draining(process)
            self._delivery().report({"fact": "service", "service": {**self._told, "state": states.DRAINING}})
            while process.look() is None and time.monotonic() < deadline:
                self._signals.wait(0.05)
            log_line("it has ended" if process.exit is not None else "it did not end in time, and is killed")
        self._end_processes()
        error = {"code": "Canceled", "message": f"The replica of {self._service.service!r} was stopped."}
        return self._deliver({**facts.ended("failed", error), "stopped": True})

    def _end_leftovers(self) -> None:
        """End what the process has left behind."""
        for each in processes.of_run(self._crew.state.cookie, [self._process.pid] if self._process else []):
            end_hard(each.pid)

    def _end_processes(self) -> None:
        sessions = [each.pid for each in self._crew.state.processes]
        cookie = self._crew.state.cookie
        left = processes.end(lambda: processes.of_run(cookie, sessions), self._plan.grace_seconds, self._signals.wait)
        if left:
            log_line(f"these processes could not be ended: {', '.join(str(each.pid) for each in left)}")
        limits = getattr(self, "_limits", None)
        if limits is not None:
            limits.close()

    def _delivery(self) -> RunDelivery:
        return self._crew.delivery(resume=self._resumed)

    def _deliver(self, end: facts.Fact) -> int:
        from runyard.node.delivery.run_delivery import deliver

        self._crew.save(phase=ENDED, ended=end)
        return deliver(self._delivery(), end, self._folder, self._signals)


def _unwritable(error: OSError, folder: Path) -> RunProblem:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return out_of_disk(error, folder)
    return RunProblem("LaunchFailed", f"What the service needs in {folder} cannot be written: {error}.")
