"""What Slurm reports of jobs, read and explained: squeue for those it remembers, sacct for older ones."""

from __future__ import annotations

import getpass
import os
import re
import signal
from collections.abc import Iterable
from dataclasses import dataclass, replace

from runyard.engines.base import EngineAway, EngineError
from runyard.engines.slurm import limits
from runyard.engines.slurm.commands import Commands, Refused

PENDING, COMPLETING = "PENDING", "COMPLETING"

_FIELDS = ("JobID", "State", "exit_code", "RestartCnt", "NodeList", "Name", "Reason")

_ENDS = {
    "COMPLETED": "",
    "FAILED": "",
    "CANCELLED": "cancelled",
    "TIMEOUT": "ended at its time limit",
    "DEADLINE": "ended at its deadline",
    "OUT_OF_MEMORY": "out of memory: it used more than its vm_size has",
    "NODE_FAIL": "a node failed",
    "BOOT_FAIL": "a node could not be started",
    "PREEMPTED": "preempted",
    "REVOKED": "given to another cluster",
}
_TAKEN = ("NODE_FAIL", "BOOT_FAIL", "PREEMPTED", "REVOKED")
_REQUEUED = ("REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "SPECIAL_EXIT")

_REASONS = {
    "": "has not been looked at yet",
    "None": "has not been looked at yet",
    "Resources": "waits for nodes to become free",
    "Priority": "waits behind jobs with a higher priority",
    "Dependency": "waits for another job",
    "BeginTime": "waits for the time at which it may begin",
    "Licenses": "waits for a licence",
    "Reservation": "waits for its reservation",
    "Prolog": "waits for its nodes to be prepared",
    "JobHeldAdmin": "is held by an administrator, who must release it",
    "JobHeldUser": "is held: release it with `scontrol release {job}`",
    "PartitionDown": "waits for its partition, which is down",
    "PartitionInactive": "waits for its partition, which is not active",
    "PartitionNodeLimit": "asks for more nodes than its partition gives to one job: ask for fewer",
    "PartitionTimeLimit": "asks for more time than its partition allows: lower max_run_duration_seconds",
    "PartitionConfig": "asks for more than its partition has: take a smaller vm_size, or another partition",
    "NodeDown": "needs a node that is down",
    "BadConstraints": "asks for what no node has",
    "InvalidAccount": "has an account that may not be used: set the target's option `account`",
    "InvalidQOS": "has a QOS that may not be used: set the target's option `qos`",
    "AccountNotAllowed": "has an account that its partition does not allow: set the target's option `account`",
    "QOSNotAllowed": "has a QOS that its partition does not allow: set the target's option `qos`",
}


@dataclass(frozen=True)
class Job:
    id: str
    state: str
    status: int = 0  # as wait() gives it
    restarts: int = 0
    nodes: str = ""  # as Slurm writes them: n[1-3]
    name: str = ""
    reason: str = ""

    @property
    def waiting(self) -> bool:
        return self.state == PENDING

    @property
    def looked_at(self) -> bool:
        """Whether Slurm has found a reason to let it wait: most jobs start before it has."""
        return self.reason not in ("", "None")

    @property
    def preparing(self) -> bool:
        """Whether it has its nodes, but nothing runs on them yet."""
        return self.state == "CONFIGURING"

    @property
    def ending(self) -> bool:
        return self.state == COMPLETING

    @property
    def over(self) -> bool:
        return self.state in _ENDS

    @property
    def requeued(self) -> bool:
        """Whether Slurm has taken the nodes away and would start the same job once more."""
        return self.restarts > 0 or self.state in _REQUEUED

    @property
    def taken(self) -> bool:
        return self.state in _TAKEN

    def why_waiting(self) -> str:
        """What the job waits for.

        >>> Job("7", "PENDING", reason="Resources").why_waiting()
        'Slurm: job 7 waits for nodes to become free (Resources)'
        """
        code = self.reason.partition(",")[0].strip()
        if code in _REASONS:
            text = _REASONS[code].format(job=self.id)
        elif limits.codes(code) or code.startswith(("QOS", "Assoc")):
            way_out = limits.way_out(code)
            text = f"waits for a limit of its {'account' if code.startswith('Assoc') else 'QOS'}"
            text += f": {way_out}" if way_out else ""
        elif code.startswith(("ReqNodeNotAvail", "Nodes required")):
            text = "needs nodes that are down, drained or reserved"
        else:
            text = "waits"
        suffix = f" ({self.reason})" if self.looked_at else ""
        return f"Slurm: job {self.id} {text}{suffix}"

    def how_it_ended(self, python: str) -> str:
        """How a job that is over has ended.

        >>> Job("7", "FAILED", status=768).how_it_ended("python3")
        'exit code 3, Slurm job 7'
        """
        text = _ENDS.get(self.state) or _exit(self.status, python)
        on = f" on {self.nodes}" if self.nodes and self.state != "COMPLETED" else ""
        return f"{text}, Slurm job {self.id}{on}"

    def how_it_was_requeued(self) -> str:
        return f"Slurm requeued job {self.id}, and so took its nodes away"


def _exit(status: int, python: str) -> str:
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        name = signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"
        return f"killed by {name}"
    code = os.WEXITSTATUS(status)
    if code == 127:
        return f"exit code 127: {python} was not found on the node (the target's option `python`)"
    return f"exit code {code}"


def ask(commands: Commands, ids: Iterable[str]) -> dict[str, Job]:
    """What squeue knows of jobs, those included that ended a while ago; by id."""
    try:
        return _squeue(commands, f"--jobs={','.join(ids)}")
    except Refused as error:
        if "invalid job id" in error.message.lower():  # its answer when it knows none of them
            return {}
        raise


def ask_by_name(commands: Commands, name: str) -> Job | None:
    """The job of this user that has a name, if squeue knows one; the last that was submitted."""
    known = _squeue(commands, f"--name={name}", f"--user={getpass.getuser()}")
    return max(known.values(), key=lambda job: int(job.id), default=None)


def _squeue(commands: Commands, *which: str) -> dict[str, Job]:
    fields = ",".join(f"{field}:|" for field in _FIELDS)
    output = commands.run("squeue", "--noheader", "--states=all", *which, f"--Format={fields}")
    return {job.id: job for line in output.splitlines() if (job := _from_squeue(line)) is not None}


def _from_squeue(line: str) -> Job | None:
    parts = line.split("|")
    if len(parts) <= len(_FIELDS):
        return None
    id, state, status, restarts, nodes, name, *reason = (part.strip() for part in parts[:-1])
    return Job(id, state, _number(status), _number(restarts), nodes, name, "|".join(reason))


def ask_history(commands: Commands, ids: Iterable[str]) -> dict[str, Job]:
    """What the accounting knows of jobs that squeue has forgotten; nothing where there is none.

    Raises EngineAway when its database does not answer. It does not know what slurmctld could not send it yet: then
    it may report that a job runs, or give it another name.
    """
    options = ["--noheader", "--parsable2", "--allocations", "--duplicates", f"--jobs={','.join(ids)}"]
    try:
        output = commands.run("sacct", *options, "--format=JobIDRaw,State,ExitCode,NodeList,JobName")
    except EngineAway:
        raise
    except EngineError:  # there is none, or not for this machine
        return {}
    found: dict[str, Job] = {}
    for job in filter(None, map(_from_sacct, output.splitlines())):
        # A job that was requeued has a line for each time that it was started. The line before may also be of another
        # job: ids begin anew when a cluster loses its memory.
        former = found.get(job.id)
        again = former is not None and former.name == job.name
        found[job.id] = replace(job, restarts=1) if again else job
    return found


def _from_sacct(line: str) -> Job | None:
    """
    >>> _from_sacct("7|CANCELLED by 0|0:15|n[1-2]|runyard-a")
    Job(id='7', state='CANCELLED', status=15, restarts=0, nodes='n[1-2]', name='runyard-a', reason='')
    """
    parts = line.split("|")
    if len(parts) < 5:
        return None
    id, state, exit, nodes, name = parts[:5]
    code, _, number = exit.partition(":")
    status = _number(number) or _number(code) << 8
    return Job(id, state.split(" ")[0], status, 0, "" if nodes.startswith("None") else nodes, name)


def _number(text: str) -> int:
    return int(text) if re.fullmatch(r"\d+", text.strip()) else 0
