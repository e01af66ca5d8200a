"""If these fail, a site with accounting loses how jobs have ended, or its limits keep runs out without a word."""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.engines.conftest import Listener, gang_of
from tests.support.slurm_accounting import ACCOUNT, OTHER_USER, start_accounting, stop_accounting
from tests.support.slurm_cluster import SlurmCluster
from tests.support.waiting import wait_until

from runyard.contracts.compute import SLURM, Target
from runyard.engines.base import EngineAway, EngineError, Gang, Handle
from runyard.engines.folders import RunFolders
from runyard.engines.hand_over import Parcel
from runyard.engines.slurm import engine as slurm_engine
from runyard.engines.slurm.engine import SlurmEngine
from runyard.engines.slurm.script import DEFAULT_DURATION

pytestmark = pytest.mark.xdist_group("slurm-accounting")

DEADLINE = 120.0

RUNNER = """
import os, sys, time
order = sys.argv[1]
open(order + ".began", "w").close()
while not os.path.exists(order):
    time.sleep(0.05)
sys.exit(int(open(order).read()))
"""
"""Stands where a node runner stands: says that it is there, and ends when and as it is told to."""


@dataclass
class Yard:
    cluster: SlurmCluster
    home: Path
    orders: Path

    def engine(self, **options: object) -> SlurmEngine:
        return SlurmEngine(RunFolders(self.home / "runs"), self.home, {"conf": str(self.cluster.conf), **options})

    def start(self, run_id: str, nodes: int = 1, seconds: int | None = None, **options: object) -> Handle:
        """Start a gang, and look at it no more: the server goes away."""
        engine = self.engine(**options)
        try:
            return engine.start(gang_of(self.home, run_id, nodes, max_run_duration_seconds=seconds), Listener())
        finally:
            engine.close()

    def wait_for(self, run_id: str) -> None:
        wait_until((self.orders / f"{run_id}.began").exists)

    def end(self, run_id: str, code: int) -> None:
        (self.orders / ".order").write_text(str(code))
        (self.orders / ".order").rename(self.orders / run_id)


@pytest.fixture
def yard(accounted: SlurmCluster, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Yard:
    def parcel(gang: Gang, folders: RunFolders) -> Parcel:
        folders.make(gang)
        return Parcel(["-I", "-S", "-c", RUNNER, str(tmp_path / gang.run_id)], {})

    monkeypatch.setattr(slurm_engine, "hand_over", parcel)
    return Yard(accounted, home, tmp_path)


@pytest.fixture
def commands(tmp_path: Path) -> Path:
    """Slurm's commands as a user calls them who is not root."""
    folder = tmp_path / "commands"
    folder.mkdir()
    for name in ("sinfo", "sbatch"):
        as_user = f"setpriv --reuid={OTHER_USER} --regid={OTHER_USER} --clear-groups {shutil.which(name)}"
        (folder / name).write_text(f'#!/bin/sh\nexec {as_user} "$@"\n')
        (folder / name).chmod(0o755)
    return folder


def attached(**options: object) -> Target:
    return Target("hpc", SLURM, "Slurm", options=dict(options))


def job_of(handle: Handle) -> str:
    return str(handle["job"])


# -- accounts and QOS ------------------------------------------------------------------------------------------------


def test_a_job_is_charged_to_the_account_and_the_qos_of_its_target(yard: Yard) -> None:
    yard.engine().check(attached(account=ACCOUNT, qos="small"))
    handle = yard.start("run-1", account=ACCOUNT, qos="small")
    yard.end("run-1", 0)
    question = ["sacct", "--noheader", "--parsable2", "--allocations", "--format=Account,QOS,State"]
    wait_until(lambda: yard.cluster.run(*question, f"--jobs={job_of(handle)}").strip() == f"{ACCOUNT}|small|COMPLETED")


def test_what_may_not_be_used_is_refused_with_a_way_out(yard: Yard, commands: Path) -> None:
    engine = yard.engine()
    with pytest.raises(EngineError, match=r"Invalid account.*option `account`: `sacctmgr show associations"):
        engine.check(attached(account="nowhere"))
    with pytest.raises(EngineError, match=r"Invalid qos.*option `qos`: `sacctmgr show associations"):
        engine.check(attached(qos="nowhere"))
    with pytest.raises(EngineError, match=r"Invalid account.*option `account`"):
        yard.start("run-1", account="nowhere")
    users = yard.engine(commands=str(commands))
    users.check(attached(account=ACCOUNT, qos="normal"))
    with pytest.raises(EngineError, match=r"Invalid account.*option `account`"):
        users.check(attached(account="root"))
    with pytest.raises(EngineError, match=r"Invalid qos.*option `qos`"):
        users.check(attached(qos="brief"))


# -- limits ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("qos", "nodes", "reason"),
    [
        ("one-job", 1, "a limit of its QOS: it starts when other jobs of yours end (QOSMaxJobsPerUserLimit)"),
        ("one-node", 2, "a limit of its QOS: it starts when other jobs under that limit end, if it fits the limit"),
        ("small", 2, "a limit of its QOS: ask for fewer nodes or a smaller vm_size (QOSMaxNodePerJobLimit)"),
        ("brief", 1, "a limit of its QOS: lower max_run_duration_seconds, or set the target's option `time`"),
    ],
)
def test_a_run_that_a_limit_keeps_waiting_says_what_to_do(yard: Yard, qos: str, nodes: int, reason: str) -> None:
    yard.cluster.run("sbatch", f"--qos={qos}", "--time=5", "--output=/dev/null", "--wrap", "sleep 600")
    engine, events = yard.engine(qos=qos), Listener()
    engine.start(gang_of(yard.home, nodes=nodes, max_run_duration_seconds=3600), events)
    wait_until(lambda: any(reason in " ".join(said) for said in events.said))
    engine.close()


def test_a_job_that_a_strict_qos_refuses_says_what_to_ask_for(yard: Yard) -> None:
    yard.engine().check(attached(qos="strict"))
    with pytest.raises(EngineError, match=r"QOSMaxWallDurationPerJobLimit.*\. Lower max_run_duration_seconds"):
        yard.start("run-1", qos="strict", seconds=3600)
    with pytest.raises(EngineError, match=r"QOSMaxNodePerJobLimit.*\. Ask for fewer nodes"):
        yard.start("run-1", nodes=2, qos="strict")
    # A time limit that nobody asked for keeps no run out.
    handle = yard.start("run-1", qos="strict", seconds=DEFAULT_DURATION)
    assert "TimeLimit=00:10:00" in yard.cluster.run("scontrol", "show", "job", job_of(handle))


def test_a_time_limit_that_nobody_asked_for_keeps_no_run_waiting(yard: Yard) -> None:
    handle = yard.start("run-1", qos="brief", seconds=DEFAULT_DURATION)
    yard.wait_for("run-1")
    assert "TimeLimit=00:10:00" in yard.cluster.run("scontrol", "show", "job", job_of(handle))


def test_a_qos_that_takes_no_more_jobs_is_waited_for(yard: Yard) -> None:
    first = yard.start("run-1", qos="few")
    with pytest.raises(EngineAway, match=r"Slurm takes no more jobs for now: QOSGrpSubmitJobsLimit"):
        yard.start("run-2", qos="few")
    yard.engine().check(attached(qos="few"))  # the target is right, whatever waits in the queue
    yard.cluster.run("scancel", job_of(first))
    wait_until(lambda: yard.cluster.run("squeue", "--noheader") == "")
    yard.start("run-2", qos="few")
    yard.wait_for("run-2")


# -- jobs that squeue has forgotten ----------------------------------------------------------------------------------


def test_ends_that_nobody_saw_are_told_as_they_were(yard: Yard) -> None:
    cluster, last = yard.cluster, yard.cluster.nodes[-1]
    jobs = {run_id: yard.start(run_id) for run_id in ("well", "badly", "too-long", "cancelled", "requeued")}
    jobs["lost"] = yard.start("lost", sbatch=f"--nodelist={last}")
    for run_id in jobs:
        yard.wait_for(run_id)
    yard.end("well", 0)
    yard.end("badly", 3)
    cluster.run("scontrol", "update", f"JobId={job_of(jobs['too-long'])}", "EndTime=now+1seconds")
    cluster.run("scancel", job_of(jobs["cancelled"]))
    cluster.run("scontrol", "update", f"JobId={job_of(jobs['requeued'])}", "Requeue=1")
    cluster.run("scontrol", "requeue", job_of(jobs["requeued"]))
    wait_until(lambda: "PENDING" in cluster.run("squeue", "--noheader", "--format=%T"))
    cluster.run("scancel", job_of(jobs["requeued"]))
    cluster.kill_node(last)
    cluster.run("scontrol", "update", f"NodeName={last}", "State=DOWN", "Reason=test")  # spares SlurmdTimeout
    wait_until(lambda: cluster.run("squeue", "--noheader", "--states=all") == "")

    stop_accounting(cluster)  # which is not the end of it: it is asked again
    engine, events = yard.engine(), Listener()
    jobs["nobodys"] = {"job": "4000000", "name": "runyard-nobodys"}
    for run_id, handle in jobs.items():
        assert engine.watch(run_id, handle, events)
    time.sleep(2.0)  # nothing can be told, whoever is asked
    assert events.gone_runs.empty()
    start_accounting(cluster)
    told = [events.gone_runs.get(timeout=DEADLINE) for _ in jobs]
    engine.close()
    number = {run_id: job_of(handle) for run_id, handle in jobs.items()}
    node = cluster.nodes[0]
    assert {run_id: (how, taken) for run_id, how, taken in told} == {
        "well": (f"exit code 0, Slurm job {number['well']}", False),
        "badly": (f"exit code 3, Slurm job {number['badly']} on {node}", False),
        "too-long": (f"ended at its time limit, Slurm job {number['too-long']} on {node}", False),
        "cancelled": (f"cancelled, Slurm job {number['cancelled']} on {node}", False),
        "requeued": (f"Slurm requeued job {number['requeued']}, and so took its nodes away", True),
        "lost": (f"a node failed, Slurm job {number['lost']} on {last}", True),
        "nobodys": ("Slurm does not know job 4000000 any more", False),
    }
