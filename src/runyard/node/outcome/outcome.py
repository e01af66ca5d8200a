"""What a node runner reports of how a script ended: by itself, because it was asked to, or because its time was up.

What it reports of a script that ran in many processes is here too; which of them failed first is not decided here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Sequence

from runyard.contracts.distribution import Rank
from runyard.contracts.history import SCRIPT_LOG
from runyard.contracts.plan import Plan
from runyard.node.facts import Fact, ended
from runyard.node.outcome import exits, failure
from runyard.node.outcome.exits import Exit
from runyard.node.state import CANCELLED, OVERDUE

MOST_NAMED = 8


def of_exit(plan: Plan, folder: Path, exit: Exit, stop: str | None, out_of_memory: bool) -> Fact:
    """The fact that tells how the script ended; `stop` says why the node runner ended it, if it did."""
    if stop == CANCELLED:
        said = exits.words(exit, because="the run was cancelled")
        error = {"code": "Canceled", "message": f"{_name(plan)}: {said}.", "exit": exits.as_fields(exit, said)}
        return {**ended("completed" if exit.ok else "failed", error), "stopped": True}
    if stop == OVERDUE:
        said = exits.words(exit, because="its time was up")  # which time, the message tells
        return _overdue(plan, {"exit": exits.as_fields(exit, said)})
    if exit.ok:
        return ended("completed")
    log = folder / "streams" / SCRIPT_LOG
    return ended("failed", failure.describe(plan.launch, exit, folder / "work", log, out_of_memory))


def of_gang(
    plan: Plan, stop: str | None, failure: dict[str, Any] | None, well: bool, late: Sequence[Rank] = ()
) -> Fact:
    """The fact that tells how a run of many processes ended. `failure` is the error of what failed first, if any
    did; `well` says that all processes ended well, even where they were told to end; `late` were not done in time."""
    if stop == CANCELLED:
        distribution = plan.distribution
        count, nodes = len(distribution.ranks()), distribution.nodes
        where = f" on {nodes} nodes" if nodes > 1 else ""
        said = f"{_name(plan)}: its {count} processes{where} were ended because the run was cancelled."
        return {**ended("completed" if well else "failed", {"code": "Canceled", "message": said}), "stopped": True}
    if stop == OVERDUE:
        return _overdue(plan, {}, late)
    return ended("completed") if failure is None else ended("failed", failure)


def before_start() -> Fact:
    """A stop was asked for before the script was started."""
    error = {"code": "Canceled", "message": "The run was cancelled before its script was started."}
    return {**ended("failed", error), "stopped": True}


def _overdue(plan: Plan, more: dict[str, Any], late: Sequence[Rank] = ()) -> Fact:
    message = f"{_name(plan)} {_limit(plan)} and was ended."
    help = "Give the run more time with max_run_duration_seconds, or make it shorter."
    if late:
        message += f" Not done by then: {_named(late)}."
        help += " A process that never joins the others keeps them waiting: the log of each rank shows how far it came."
    return {
        **ended("failed", {"code": "MaxRunDurationExceeded", "message": message, **more, "help": help}),
        "timed_out": True,
    }


def _named(ranks: Sequence[Rank]) -> str:
    """Some processes by name; of many, the first.

    >>> _named([Rank(0, 0, 0), Rank(1, 1, 0)])
    'rank 0 (node 0), rank 1 (node 1)'
    """
    more = f" and {len(ranks) - MOST_NAMED} more" if len(ranks) > MOST_NAMED else ""
    return ", ".join(f"rank {each.rank} (node {each.node})" for each in ranks[:MOST_NAMED]) + more


def _limit(plan: Plan) -> str:
    return f"ran longer than max_run_duration_seconds ({plan.launch.max_run_duration_seconds} s)"


def _name(plan: Plan) -> str:
    return plan.launch.script or "The command"
