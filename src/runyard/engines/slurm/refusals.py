"""What to do when sbatch refuses a job: Slurm's own message, followed by a way out."""

from __future__ import annotations

from runyard.engines.slurm import limits
from runyard.engines.slurm.cluster import Partition
from runyard.engines.slurm.options import Options

_POLICY = "accounting/qos policy"
"""Slurm's name for every limit of an account or a QOS. Which one it is comes before it."""

_HELP = (
    # what the message holds, what to do, whether no job of the target would ever be taken
    ("account", "Set the target's option `account`: `sacctmgr show associations user=$USER` lists yours.", True),
    (
        "qos",
        "Set the target's option `qos`: `sacctmgr show associations user=$USER format=account,qos` lists yours.",
        True,
    ),
    ("feature", "Correct the target's option `constraint`: `sinfo -o '%N %f'` lists the features.", True),
    ("gres", "Correct the target's option `gres`: `sinfo -o '%N %G'` lists what the nodes have.", True),
    ("generic resource", "Correct the target's option `gres`: `sinfo -o '%N %G'` lists what the nodes have.", True),
    ("option", "Correct the target's option `sbatch`: `man sbatch` lists the arguments.", True),
    ("time limit", "Lower max_run_duration_seconds, or set the target's option `time`.", False),
    ("node count", "Ask for fewer nodes, or take another partition.", False),
    ("configuration is not available", "Ask for fewer nodes or a smaller vm_size, or take another partition.", False),
    ("memory specification", "Take a smaller vm_size, or another partition.", False),
)


def explain(message: str, options: Options, partitions: dict[str, Partition]) -> str:
    """A refusal with what to do about it."""
    low = message.lower()
    if "partition" in low and options.partition not in ("", *partitions):
        return no_partition(options.partition, partitions)
    if _POLICY in low:
        ways_out = [way_out for code in limits.codes(message) if (way_out := limits.way_out(code))]
        help = " ".join(f"{way_out[0].upper()}{way_out[1:]}." for way_out in ways_out)
        return f"Slurm refused the job: {message} {help or 'Ask for less time or fewer nodes.'}"
    for sign, help, _ in _HELP:
        if sign in low:
            return f"Slurm refused the job: {message} {help}"
    return f"Slurm refused the job: {message} Check the options of the target."


def for_good(message: str) -> bool:
    """Whether every job of the target would be refused, whatever it asks for."""
    low = message.lower()
    return _POLICY not in low and any(sign in low for sign, _, always in _HELP if always)


def of_time(message: str) -> bool:
    """Whether it may be the time limit: Slurm has one message for several limits."""
    return any(sign in message.lower() for sign in ("time limit", "wall", "policy"))


def no_partition(name: str, partitions: dict[str, Partition]) -> str:
    """Why no job can be submitted to it; no name means the cluster's default."""
    there = ", ".join(sorted(partitions)) or "none that this user may see"
    what = f"Slurm has no partition {name!r}" if name else "The cluster has no default partition"
    return f"{what}. There are: {there}. Set the target's option `partition`."
