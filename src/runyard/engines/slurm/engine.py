"""The Slurm engine: submits gangs as jobs through Slurm's commands. `poll` reports what happens to them."""

from __future__ import annotations

import getpass
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from runyard.contracts import vm_sizes
from runyard.contracts.compute import Node, Resources, Target
from runyard.engines.base import Engine, EngineAway, EngineError, EngineEvents, Finding, Gang, Handle, Offer
from runyard.engines.folders import RunFolders
from runyard.engines.hand_over import hand_over
from runyard.engines.slurm import diagnosis, refusals
from runyard.engines.slurm.cluster import FRESH, Cluster, Partition, described, host_names
from runyard.engines.slurm.commands import Commands, Full, Refused
from runyard.engines.slurm.jobs import ask_by_name
from runyard.engines.slurm.options import Options
from runyard.engines.slurm.poll import Poll
from runyard.engines.slurm.script import DEFAULT_DURATION, arguments, batch_script, job_name, time_limit

JOB, NAME = "job", "name"
"""The keys of a handle: the job's id, which a promise does not have, and its name."""

LIMITS_CACHED = 600.0
"""Seconds for which the time limits of partitions are taken to be what they were."""


class SlurmEngine(Engine):
    def __init__(self, folders: RunFolders, home: Path, options: Mapping[str, Any]) -> None:
        self._folders = folders
        self._options = Options.from_dict(options)
        self._commands = Commands(self._options)
        self._cluster = Cluster(self._commands)
        self._poll = Poll(self._commands, self._options.python)

    def check(self, target: Target) -> None:
        options = Options.from_dict(target.options)
        partition = self._partition(options, fresh=0.0)
        try:
            wanted = vm_sizes.resources(target.vm_size)
        except vm_sizes.UnknownSize as error:
            raise EngineError(str(error)) from error
        if options.gres:  # in place of the GPUs of the size
            wanted = Resources(wanted.cores, wanted.memory_mb)
        if not any(machine.fits(wanted) for machine in partition.machines):
            raise EngineError(
                f"No node of partition {partition.name} has what {target.vm_size} stands for ({described(wanted)}). "
                f"It has: {partition.kinds()}. Take another vm_size, none at all, or another partition."
            )
        self._try_out(options)

    def _partition(self, options: Options, fresh: float) -> Partition:
        partition = self._cluster.partition(options.partition, fresh)
        if partition is None:
            raise EngineError(refusals.no_partition(options.partition, self._cluster.partitions()))
        return partition

    def _try_out(self, options: Options) -> None:
        """Have Slurm look at a job with the target's options, which it does not start."""
        asked = [
            f"--{name}={value}"
            for name in ("partition", "account", "qos", "constraint", "gres")
            if (value := getattr(options, name))
        ]
        try:
            self._commands.run("sbatch", "--test-only", *asked, *options.sbatch, text="#!/bin/sh\n")
        except Full:  # all is right but the moment, and runs wait for a better one
            return
        except Refused as error:
            if refusals.for_good(error.message):  # others may be for now only: nodes that are down, for example
                raise self._explained(error) from error

    def offer(self) -> Offer:
        partition = self._partition(self._options, FRESH)
        runs = {host: run for run, hosts in self._poll.nodes().items() for host in host_names(hosts)}
        nodes = [Node(each.name, each.state, runs.get(each.name), each.address) for each in partition.machines]
        return Offer(nodes, partition.largest_gang())

    def start(self, gang: Gang, events: EngineEvents) -> Handle:
        run_id = gang.run_id
        parcel = hand_over(gang, self._folders)
        script = batch_script(parcel, len(gang.plans), self._options.python, self._folders.of(run_id) / "streams")
        try:
            job = self._submit(gang, script, parcel.environment)
        except EngineAway:
            raise  # it may have taken the job, which then needs the folder
        except EngineError:
            self._folders.clear(run_id)
            raise
        handle = {JOB: job, **self.promise(gang)}
        self._poll.add(job, handle[NAME], run_id, events)
        return handle

    def promise(self, gang: Gang) -> Handle:
        return {NAME: job_name(gang.run_id, gang.plans[0].attempt)}

    def find(self, run_id: str, promise: Handle, events: EngineEvents) -> Handle | None:
        job = ask_by_name(self._commands, promise[NAME])
        if job is None:
            return None
        self._poll.add(job.id, promise[NAME], run_id, events)
        return {JOB: job.id, **promise}

    def _submit(self, gang: Gang, script: str, environment: Mapping[str, str]) -> str:
        limit = self._time_limit(gang)
        try:
            return self._sbatch(gang, script, environment, limit)
        except Refused as error:
            # A limit that the user never asked for must not fail a run: without it, the cluster's own rules.
            own = gang.plans[0].launch.max_run_duration_seconds not in (None, DEFAULT_DURATION)
            if not limit or own or not refusals.of_time(error.message):
                raise self._explained(error) from error
        try:
            return self._sbatch(gang, script, environment, "")
        except Refused as error:
            raise self._explained(error) from error

    def _sbatch(self, gang: Gang, script: str, environment: Mapping[str, str], limit: str) -> str:
        output = self._commands.run("sbatch", *arguments(gang, self._options, limit), text=script, extra=environment)
        found = re.match(r"\d+", output.strip())  # behind it, the cluster's name
        if found is None:
            raise EngineError(f"Slurm's answer to sbatch cannot be read: {output.strip()[:200]!r}")
        return found[0]

    def _time_limit(self, gang: Gang) -> str:
        plan = gang.plans[0]
        duration = plan.launch.max_run_duration_seconds
        partition = None
        if duration is not None:
            partition = self._cluster.partition(self._options.partition, LIMITS_CACHED)
        return time_limit(duration, self._options, plan.grace_seconds, partition)

    def _explained(self, error: Refused) -> EngineError:
        return EngineError(refusals.explain(error.message, self._options, self._cluster.partitions()))

    def watch(self, run_id: str, handle: Handle, events: EngineEvents) -> bool:
        """The next answer of Slurm shows what became of the job, also when it is over: Slurm knows how it ended."""
        self._poll.add(handle[JOB], handle[NAME], run_id, events)
        return True

    def stop(self, run_id: str, handle: Handle) -> None:
        if JOB in handle:
            self._poll.stop(handle[JOB])
        else:
            self._commands.run("scancel", "--quiet", f"--name={handle[NAME]}", f"--user={getpass.getuser()}")

    def close(self) -> None:
        self._poll.close()

    @classmethod
    def diagnose(cls, targets: Sequence[Target]) -> Iterator[Finding]:
        return diagnosis.diagnose(targets)
