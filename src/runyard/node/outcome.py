"""What a node runner reports of how a script ended: by itself, because it was asked to, or because its time was up."""

from __future__ import annotations

from pathlib import Path

from runyard.contracts.plan import Plan
from runyard.node import exits, failure
from runyard.node.exits import Exit
from runyard.node.facts import Fact, ended
from runyard.node.state import CANCELLED, OVERDUE


def of_exit(plan: Plan, folder: Path, exit: Exit, stop: str | None, out_of_memory: bool) -> Fact:
    """The fact that tells how the script ended; `stop` says why the node runner ended it, if it did."""
    if stop == CANCELLED:
        said = exits.words(exit, because="the run was cancelled")
        error = {"code": "Canceled", "message": f"{_name(plan)}: {said}.", "exit": exits.as_fields(exit, said)}
        return {**ended("completed" if exit.ok else "failed", error), "stopped": True}
    if stop == OVERDUE:
        limit = f"ran longer than max_run_duration_seconds ({plan.launch.max_run_duration_seconds} s)"
        said = exits.words(exit, because=f"it {limit}")
        error = {
            "code": "MaxRunDurationExceeded",
            "message": f"{_name(plan)} {limit} and was ended.",
            "exit": exits.as_fields(exit, said),
            "help": "Give the run more time with max_run_duration_seconds, or make it shorter.",
        }
        return {**ended("failed", error), "timed_out": True}
    if exit.ok:
        return ended("completed")
    log = folder / "streams" / "std_log.txt"
    return ended("failed", failure.describe(plan.launch, exit, folder / "work", log, out_of_memory))


def before_start() -> Fact:
    """A stop was asked for before the script was started."""
    error = {"code": "Canceled", "message": "The run was cancelled before its script was started."}
    return {**ended("failed", error), "stopped": True}


def _name(plan: Plan) -> str:
    return plan.launch.script or "The command"
