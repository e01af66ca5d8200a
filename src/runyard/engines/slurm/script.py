"""What is submitted for a gang: the arguments of sbatch, and the batch script.

The batch script becomes (`exec`) the runner of node 0, so that a signal to the batch step reaches that process and no
other; the runners of the other nodes are the tasks of one step. When the first ends, Slurm ends the job.
"""

from __future__ import annotations

import math
import shlex
from pathlib import Path

from runyard.contracts.compute import Resources
from runyard.engines.base import Gang
from runyard.engines.hand_over import Parcel
from runyard.engines.slurm.cluster import Partition
from runyard.engines.slurm.options import Options

DEFAULT_DURATION = 30 * 24 * 3600
"""Seconds: the time limit that SDK v1 gives to every run that was given none."""

_FORGET = r"""for name in $(env | sed -n 's/^\(SLURM_[A-Za-z0-9_]*\)=.*/\1/p'); do
case $name in SLURM_JOB_ID|SLURM_CONF) ;; *) unset "$name" ;; esac
done"""
# mpirun, Lightning and others take these variables for orders: they would start ranks where the node runners do.

_FOLLOWER = f"""node=$((SLURM_PROCID + 1))
{_FORGET}
exec "$0" "$@" "$node"
"""


def job_name(run_id: str, attempt: int = 1) -> str:
    """
    >>> job_name("train_7"), job_name("train_7", 2)
    ('runyard-train_7', 'runyard-train_7.2')
    """
    return f"runyard-{run_id}" if attempt == 1 else f"runyard-{run_id}.{attempt}"


def arguments(gang: Gang, options: Options, limit: str) -> list[str]:
    """The arguments of sbatch. Nothing secret is among them: everybody can see a job's."""
    plan, nodes = gang.plans[0], len(gang.plans)
    attempt = f", attempt {plan.attempt}" if plan.attempt > 1 else ""
    found = [
        f"--{name}={value}"
        for name in ("partition", "account", "qos", "constraint")
        if (value := getattr(options, name))
    ]
    found += _resources(gang.resources, options)
    if limit:
        found.append(f"--time={limit}")
    return [
        *found,
        *options.sbatch,
        # The last argument wins, so these cannot be changed: the engine relies on them.
        "--parsable",
        f"--job-name={job_name(gang.run_id, plan.attempt)}",
        f"--comment=runyard: run {gang.run_id}{attempt} in workspace {plan.workspace}",
        f"--nodes={nodes}",
        "--ntasks-per-node=1",
        "--no-requeue",  # a run that is started again is another attempt, with its own folders
        "--export=ALL",
        "--chdir=/tmp",  # the server's own folder may not be there on the node
        "--output=/dev/null",  # the script chooses: a file that a node does not have would fail the job
        "--error=/dev/null",
    ]


def _resources(wanted: Resources, options: Options) -> list[str]:
    found = []
    if wanted.cores:
        found.append(f"--cpus-per-task={wanted.cores}")
    if wanted.memory_mb:
        found.append(f"--mem={wanted.memory_mb}M")
    elif options.exclusive:
        found.append("--mem=0")  # all that the node has
    if options.gres or wanted.gpus:
        found.append(f"--gres={options.gres or f'gpu:{wanted.gpus}'}")
    if options.exclusive:
        found.append("--exclusive")
    return found


def time_limit(duration: int | None, options: Options, grace: float, partition: Partition | None) -> str:
    """The time limit of a job whose script may run for `duration` seconds; empty: the longest that Slurm gives.

    The runner ends a script that takes too long, so the job's own limit comes later. A partition that allows less
    gives what it allows: a limit is a limit, not a need. For a time that nobody has asked for, the best is to ask for
    none: then a QOS or an account that allows still less cuts it, where the job would otherwise wait. Only
    a partition that gives short times to those who do not ask is asked for its longest.

    >>> time_limit(3600, Options(), 10.0, None)
    '71'
    >>> time_limit(DEFAULT_DURATION, Options(), 10.0, Partition("gpu", True, minutes=120, most_nodes=None))
    ''
    """
    if duration in (None, DEFAULT_DURATION):
        if options.time:
            return options.time
        if duration is None or partition is None or not partition.short:
            return ""
    minutes = math.ceil((duration + grace + options.time_margin) / 60)
    return str(minutes if partition is None or partition.minutes is None else min(minutes, partition.minutes))


def batch_script(parcel: Parcel, nodes: int, python: str, streams: Path) -> str:
    """The script. `streams` is where the runner of node 0 writes its log, if the node sees that folder."""
    lines = [
        "#!/bin/sh",
        # Requeued by Slurm, which may not know it any more when it was killed itself: the scheduler starts another job.
        '[ -z "$SLURM_RESTART_COUNT" ] || exit 75',
        f"streams={shlex.quote(str(streams))}",
        "base=${RUNYARD_NODE_HOME:-${HOME:-/tmp}/.cache/runyard}/nodes",
        'if [ -w "$streams" ]; then exec >>"$streams/runner.log" 2>&1; mkdir "$streams/$SLURM_JOB_ID" || exit 75',
        'elif mkdir -p "$base" && [ -w "$base" ]; then exec >>"$base/slurm.log" 2>&1',
        "fi",
        f"set -- {shlex.join(parcel.arguments)}",
    ]
    if nodes > 1:
        # Through a subshell, so that srun is no child of the runner, which ends all that lives below it. Runners end
        # with codes of their own, and look after each other: none of them is killed for what another one does.
        others = (
            f"--relative=1 --nodes={nodes - 1} --ntasks={nodes - 1} --ntasks-per-node=1 --kill-on-bad-exit=0 --wait=0 "
            "--mpi=none --cpu-bind=none --input=none --label --export=ALL"
        )
        lines.append(f'( srun {others} sh -c {shlex.quote(_FOLLOWER)} {shlex.quote(python)} "$@" </dev/null & )')
    lines += [_FORGET, f'exec {shlex.quote(python)} "$@" 0', ""]
    return "\n".join(lines)
