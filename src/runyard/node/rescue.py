"""Taking over from a node runner that died: end what it left alive, deliver what it left on the disk."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from runyard.contracts.environment import CONTAINER, Specification
from runyard.contracts.plan import Plan
from runyard.node import processes, state
from runyard.node.facts import Fact, ended
from runyard.node.log import say
from runyard.node.shipping import Shipping, deliver
from runyard.node.signals import Signals
from runyard.node.state import CANCELLED, OVERDUE, Launched, State
from runyard.sdk.processes import started


def rescue(plan: Plan, folder: Path, signals: Signals) -> int:
    former = state.load(folder)
    if former is not None:
        say(f"taking over from node runner {former.runner.pid}, which is gone")
        replace(former, runner=Launched(os.getpid(), started(os.getpid()))).save(folder)
        _end_processes(former, plan.grace_seconds, signals)
        if Specification.from_dict(plan.launch.environment).kind == CONTAINER:
            from runyard.environments.containers.runtime import remove_containers

            remove_containers(plan.run_id, say)
    else:
        say("taking over from a node runner that ended before it did anything")
    shipping = Shipping(plan, folder, signals.wake, resume=True)
    return deliver(shipping, end_of(former, signals.stop_asked), folder, signals)


def _end_processes(former: State, grace: float, signals: Signals) -> None:
    # A session keeps its id for as long as one of its processes lives, so no stranger can have it, unless all are
    # gone and the id was given anew: then the leader's start time tells.
    sessions = [each.pid for each in former.processes if started(each.pid) in (None, each.started)]
    left = processes.end(lambda: processes.of_run(former.cookie, sessions), grace, signals.wait)
    if left:
        say(f"these processes could not be ended: {', '.join(str(process.pid) for process in left)}")


def end_of(former: State | None, stop_asked: bool = False) -> Fact:
    """How the run ended: as the former runner has recorded it, if the script had ended before the runner died."""
    if former is not None and former.ended is not None:
        return former.ended
    pid = f" (pid {former.runner.pid})" if former is not None else ""
    then = "its processes were ended with it" if former and former.processes else "the script had not been started"
    error = {
        "code": "NodeRunnerLost",
        "message": f"The node runner of this run{pid} was killed before the script had ended; {then}.",
        "help": "What the run wrote until then is kept. system_logs/runner.log may tell more; submit the run again.",
    }
    fact = ended("failed", error)
    stop = former.stop if former is not None else None
    if stop == CANCELLED or stop_asked:
        fact["stopped"] = True
    elif stop == OVERDUE:
        fact["timed_out"] = True
    return fact
