"""Taking over from a node runner that died: end what it left alive, deliver what it left on the disk.

Whoever takes over from node 0 of a gang does so for the other nodes too whose folders are beside it; what those wrote
comes first, and the run's end last.
"""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from runyard.contracts.distribution import MPI
from runyard.contracts.environment import CONTAINER, Specification
from runyard.contracts.history import system_log
from runyard.contracts.plan import Plan, node_folder
from runyard.node import state
from runyard.node.delivery.run_delivery import RunDelivery, deliver
from runyard.node.facts import Fact, ended
from runyard.node.launch import processes
from runyard.node.lock import take_lock
from runyard.node.log import log_line
from runyard.node.signals import Signals
from runyard.node.state import CANCELLED, OVERDUE, Launched, State, machine
from runyard.node.streams import RUNNER_LOG
from runyard.system.json_files import BadFile
from runyard.system.processes import alive, started

ALIVE_FOR = 20.0  # seconds for a follower to see by itself that it is alone, and to deliver
KILLED_WITHIN = 10.0


def rescue(plan: Plan, folder: Path, signals: Signals) -> int:
    if plan.node == 0:
        rescue_nodes(plan, folder, list(range(1, plan.distribution.nodes)), signals)
    return take_over(plan, folder, signals)


def rescue_nodes(plan: Plan, folder: Path, nodes: list[int], signals: Signals) -> set[int]:
    """Do for nodes of a gang, whose folders are beside that of node 0, what their runners cannot do any more.

    A runner that is alive gets some time to do it itself. Returns the nodes of which nothing is left to deliver;
    those that have no folder here are not among them.
    """
    deadline = time.monotonic() + ALIVE_FOR
    done = set()
    for node in nodes:
        place = node_folder(folder.parent, plan.run_id, node)
        if not (place / "plan.json").is_file():
            continue
        try:
            lock = _lock(place, deadline, signals)
            if lock is None:
                log_line(f"the runner of node {node} is at work, out of reach: it is left to itself")
                continue
            with lock:
                if take_over(Plan.load(place), place, signals) == 0:
                    done.add(node)
        except FileNotFoundError:  # its runner has delivered everything, and has ended
            done.add(node)
        except BadFile as error:
            log_line(f"what node {node} left cannot be delivered: {error}")
    return done


def take_over(plan: Plan, folder: Path, signals: Signals) -> int:
    """End what a dead runner left alive in one folder, and deliver what is there; returns the runner's exit code."""
    former = state.load(folder)
    if former is not None:
        log_line(f"taking over from node runner {former.runner.pid}, which is gone")
        here = former.machine in ("", machine())
        mine = Launched(os.getpid(), started(os.getpid()))
        left = former.processes if here else []
        replace(former, runner=mine, machine=machine(), processes=left).save(folder)
        if here:
            _end_processes(former, plan.grace_seconds, signals)
            if plan.launch.inputs:
                from runyard.client.data import binds, mounts

                mounts.detach_below(folder)
                binds.detach_below(folder)
            if Specification.from_dict(plan.launch.environment).kind == CONTAINER:
                from runyard.environments.containers.runtime import remove_containers

                remove_containers(plan.run_id, log_line, plan.node)
            if plan.distribution.kind == MPI:
                from runyard.node.mpi import remove_files

                remove_files(folder)
        else:
            log_line("it was on another machine: its processes, if any are left, are not touched")
    else:
        log_line("taking over from a node runner that ended before it did anything")
    shares_work = former is not None and former.shares_work
    delivery = RunDelivery(plan, folder, signals, resume=True, shares_work=shares_work)
    end = None if plan.node else end_of(former, signals.stop_requested)
    return deliver(delivery, end, folder, signals)


def _lock(folder: Path, deadline: float, signals: Signals) -> BinaryIO | None:
    """The lock of a node's folder. A runner on this machine that holds it beyond the deadline is killed."""
    killed = False
    while True:
        lock = take_lock(folder)
        if lock is not None:
            if (folder / "plan.json").is_file():
                return lock
            lock.close()
            raise FileNotFoundError(folder)
        if time.monotonic() > deadline:
            former = state.load(folder)
            if killed or former is None or former.machine != machine():
                return None
            if alive(former.runner.pid, former.runner.started):
                log_line(f"killing node runner {former.runner.pid}, which does not go")
                with suppress(ProcessLookupError):
                    os.kill(former.runner.pid, signal.SIGKILL)
            killed, deadline = True, time.monotonic() + KILLED_WITHIN
        signals.wait(0.1)


def _end_processes(former: State, grace: float, signals: Signals) -> None:
    # A session has its id for as long as one of its processes lives, so nobody else can have it, unless all have ended
    # and the id was given anew: then the start time of its leader differs.
    sessions = [each.pid for each in former.processes if started(each.pid) in (None, each.started)]
    left = processes.end(lambda: processes.of_run(former.cookie, sessions), grace, signals.wait)
    if left:
        log_line(f"these processes could not be ended: {', '.join(str(process.pid) for process in left)}")


def end_of(former: State | None, stop_requested: bool = False) -> Fact:
    """How the run ended: as the former runner has recorded it, if the script had ended before the runner died."""
    if former is not None and former.ended is not None:
        return former.ended
    pid = f" (pid {former.runner.pid})" if former is not None else ""
    then = "its processes were ended with it" if former and former.processes else "the script had not been started"
    error = {
        "code": "NodeRunnerLost",
        "message": f"The node runner of this run{pid} was killed before the script had ended; {then}.",
        "help": f"What the run wrote until then is kept. {system_log(RUNNER_LOG)} may tell more; submit the run again.",
    }
    fact = ended("failed", error)
    stop = former.stop if former is not None else None
    if stop == CANCELLED or stop_requested:
        fact["stopped"] = True
    elif stop == OVERDUE:
        fact["timed_out"] = True
    return fact
