"""If these fail, a job on a Slurm cluster could be lost, left behind, stopped too late, or not be told of."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import psutil
import pytest
from tests.engines.conftest import Listener, gang_of
from tests.support.slurm_cluster import SlurmCluster
from tests.support.waiting import wait_until

from runyard.contracts.compute import SLURM, Resources, Target
from runyard.engines.base import EngineAway, EngineError, Gang, Handle
from runyard.engines.folders import RunFolders
from runyard.engines.hand_over import Parcel
from runyard.engines.slurm import engine as slurm_engine
from runyard.engines.slurm.engine import SlurmEngine

pytestmark = pytest.mark.xdist_group("slurm")

DEADLINE = 120.0
TOKEN = "a-token-that-nobody-may-see"

RUNNER = """
import json, os, signal, subprocess, sys, time
folder, node = sys.argv[1:]
def said(name, value):
    with open(os.path.join(folder, "." + name), "w") as file:
        json.dump(value, file)
    os.rename(os.path.join(folder, "." + name), os.path.join(folder, name))
def stop(number, frame):
    said("stopped-" + node, number)
    sys.exit(0)
signal.signal(signal.SIGTERM, stop)
token = os.environ.pop("RUNYARD_RUN_TOKEN")
child = subprocess.Popen(["sleep", "600"], start_new_session=True)
said("node-" + node, {"pid": os.getpid(), "child": child.pid, "token": token, "environment": dict(os.environ)})
while not os.path.exists(os.path.join(folder, "finish")):
    time.sleep(0.05)
child.kill()
sys.exit(int(open(os.path.join(folder, "finish")).read()))
"""
"""Stands where a node runner stands: says that it is there, and ends when it is asked to."""


@dataclass
class Yard:
    """An engine whose gangs run the script above, and where that says what it sees."""

    cluster: SlurmCluster
    home: Path
    folder: Path
    engine: SlurmEngine

    def start(self, nodes: int = 1, run_id: str = "run-1", **launch: object) -> tuple[Handle, Listener]:
        events = Listener()
        return self.engine.start(gang_of(self.home, run_id, nodes, **launch), events), events  # type: ignore[arg-type]

    def seen(self, node: int = 0) -> dict[str, object]:
        """What the runner of a node said when it began."""
        path = self.folder / f"node-{node}"
        wait_until(path.exists)
        said: dict[str, object] = json.loads(path.read_text())
        return said

    def environment(self, node: int = 0) -> dict[str, str]:
        said = self.seen(node)["environment"]
        assert isinstance(said, dict)
        return said

    def finish(self, code: int = 0) -> None:
        (self.folder / ".finish").write_text(str(code))
        (self.folder / ".finish").rename(self.folder / "finish")

    def again(self, **options: object) -> SlurmEngine:
        """The engine of a server that was started anew."""
        self.engine.close()
        self.engine = engine_of(self.cluster, self.home, **options)
        return self.engine


def engine_of(cluster: SlurmCluster, home: Path, **options: object) -> SlurmEngine:
    return SlurmEngine(RunFolders(home / "runs"), home, {"conf": str(cluster.conf), **options})


@pytest.fixture
def yard(slurm: SlurmCluster, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Yard]:
    folder = tmp_path / "seen"
    folder.mkdir()

    def parcel(gang: Gang, folders: RunFolders) -> Parcel:
        folders.make(gang)
        return Parcel(["-I", "-S", "-c", RUNNER, str(folder)], {"RUNYARD_RUN_TOKEN": TOKEN})

    monkeypatch.setattr(slurm_engine, "hand_over", parcel)
    made = Yard(slurm, home, folder, engine_of(slurm, home))
    yield made
    made.finish()
    made.engine.close()


def gone(events: Listener) -> tuple[str, str, bool]:
    return events.gone_runs.get(timeout=DEADLINE)


def told(events: Listener, what: str) -> Callable[[], bool]:
    return lambda: any(said[0] == what for said in events.said)


def job_of(handle: Handle) -> str:
    return str(handle["job"])


def attached(**options: object) -> Target:
    return Target("hpc", SLURM, "Slurm", options=dict(options))


# -- a gang's life ---------------------------------------------------------------------------------------------------


def test_a_gang_gets_a_runner_on_each_of_its_nodes_and_is_gone_when_node_0_ends(yard: Yard) -> None:
    handle, events = yard.start(nodes=3)
    environments = [yard.environment(node) for node in range(3)]
    hosts = {each["SLURMD_NODENAME"] for each in environments}
    assert len(hosts) == 3
    for each in environments:
        assert {name for name in each if name.startswith(("SLURM_", "PMI"))} == {"SLURM_JOB_ID", "SLURM_CONF"}
        assert each["SLURM_JOB_ID"] == job_of(handle)
    wait_until(told(events, "placed"))
    assert {node.name for node in yard.engine.offer().nodes if node.run_id == "run-1"} == hosts
    yard.finish()
    assert gone(events) == ("run-1", f"exit code 0, Slurm job {job_of(handle)}", False)
    wait_until(lambda: not yard.cluster.processes())


def test_the_token_of_a_run_is_seen_by_its_runner_alone(yard: Yard) -> None:
    handle, _ = yard.start(nodes=2)
    assert [yard.seen(node)["token"] for node in (0, 1)] == [TOKEN, TOKEN]
    assert TOKEN not in yard.cluster.run("scontrol", "show", "--details", "job", job_of(handle))
    assert TOKEN not in yard.cluster.run("scontrol", "write", "batch_script", job_of(handle), "-")
    for process in psutil.process_iter(["cmdline"]):
        assert TOKEN not in " ".join(process.info["cmdline"] or [])


def test_an_exit_code_and_a_signal_are_told(yard: Yard) -> None:
    _, events = yard.start()
    yard.seen()
    yard.finish(75)
    assert gone(events)[1].startswith("exit code 75, ")
    (yard.folder / "finish").unlink()
    (yard.folder / "node-0").unlink()
    _, events = yard.start()
    pid = yard.seen()["pid"]
    assert isinstance(pid, int)
    os.kill(pid, 9)
    assert gone(events)[1].startswith("killed by SIGKILL, ")


def test_a_node_without_that_python_is_said(yard: Yard) -> None:
    yard.again(python="python-of-nowhere")
    _, events = yard.start()
    run_id, how, taken = gone(events)
    assert (run_id, taken) == ("run-1", False)
    assert "python-of-nowhere was not found" in how
    assert "python-of-nowhere" in (yard.home / "runs/run-1/streams/runner.log").read_text()


def test_a_gang_that_must_wait_says_why_and_is_placed_when_there_is_room(yard: Yard) -> None:
    held = yard.cluster.run(
        "sbatch", "--parsable", "--nodes=3", "--exclusive", "--wrap", "sleep 600", "-o", "/dev/null"
    )
    wait_until(lambda: len(yard.cluster.idle()) == 1)
    _, events = yard.start(nodes=2)
    wait_until(lambda: any("waits for nodes to become free" in " ".join(said) for said in events.said))
    assert not told(events, "placed")()
    yard.cluster.run("scancel", held.strip())
    wait_until(told(events, "placed"))
    yard.seen(1)
    yard.finish()
    assert gone(events)[1].startswith("exit code 0")


def test_gpus_are_asked_for_and_shown_to_the_node(yard: Yard) -> None:
    events = Listener()
    yard.engine.start(replace(gang_of(yard.home), resources=Resources(cores=2, memory_mb=500, gpus=1)), events)
    environment = yard.environment()
    assert environment["CUDA_VISIBLE_DEVICES"] == "0"
    assert environment["SLURMD_NODENAME"] in yard.cluster.nodes[:2]
    yard.finish()
    gone(events)


@pytest.mark.parametrize(
    ("seconds", "limit"), [(3600, "01:11:00"), (30 * 24 * 3600, "7-00:00:00"), (None, "7-00:00:00")]
)
def test_the_time_limit_leaves_room_for_the_runner_and_keeps_within_the_partitions(
    yard: Yard, seconds: int | None, limit: str
) -> None:
    handle, events = yard.start(max_run_duration_seconds=seconds)
    assert f"TimeLimit={limit}" in yard.cluster.run("scontrol", "show", "job", job_of(handle))
    yard.engine.stop("run-1", handle)
    gone(events)


# -- stopping --------------------------------------------------------------------------------------------------------


def test_a_gang_that_waits_is_taken_out_of_the_queue(yard: Yard) -> None:
    yard.cluster.run("sbatch", "--nodes=4", "--exclusive", "--wrap", "sleep 600", "-o", "/dev/null")
    wait_until(lambda: not yard.cluster.idle())
    handle, events = yard.start()
    wait_until(told(events, "waits"))
    yard.engine.stop("run-1", handle)
    assert gone(events) == ("run-1", f"cancelled, Slurm job {job_of(handle)}", False)
    assert not told(events, "placed")()


def test_a_stop_reaches_the_runner_of_node_0_and_nobody_else(yard: Yard) -> None:
    handle, events = yard.start(nodes=2)
    leader, follower = yard.seen(0), yard.seen(1)
    wait_until(told(events, "placed"))
    child = psutil.Process(int(str(leader["child"])))
    yard.engine.stop("run-1", handle)
    wait_until((yard.folder / "stopped-0").exists)
    assert json.loads((yard.folder / "stopped-0").read_text()) == 15
    assert gone(events)[1].startswith("exit code 0")
    # The script leaves its child alive: it is Slurm that ends it, after the runner has ended by itself.
    wait_until(lambda: not child.is_running() or child.status() == psutil.STATUS_ZOMBIE)
    assert not psutil.pid_exists(int(str(follower["pid"])))


@pytest.mark.parametrize("moment", ["submitted", "no longer waiting", "running"])
def test_a_stop_is_never_lost(yard: Yard, moment: str) -> None:
    handle, events = yard.start(nodes=2)
    if moment == "no longer waiting":
        wait_until(lambda: "PENDING" not in yard.cluster.run("squeue", "--noheader", "--format=%T"))
    elif moment == "running":
        wait_until(told(events, "placed"))
    yard.engine.stop("run-1", handle)
    assert gone(events)[0] == "run-1"
    wait_until(lambda: not yard.cluster.processes())


# -- what Slurm takes away -------------------------------------------------------------------------------------------


def test_a_preempted_gang_was_taken(yard: Yard) -> None:
    yard.again(partition="scavenge")
    handle, events = yard.start(nodes=4)
    yard.seen(3)
    yard.cluster.run(
        "sbatch", "--partition=urgent", "--nodes=4", "--exclusive", "--wrap", "sleep 600", "-o", "/dev/null"
    )
    run_id, how, taken = gone(events)
    assert (run_id, taken) == ("run-1", True)
    assert "preempted" in how
    assert job_of(handle) in how


def test_a_requeued_gang_was_taken_and_does_not_start_again(yard: Yard) -> None:
    handle, events = yard.start(nodes=2)
    yard.seen(1)
    yard.cluster.run("scontrol", "update", f"JobId={job_of(handle)}", "Requeue=1")
    yard.cluster.run("scontrol", "requeue", job_of(handle))
    assert gone(events) == ("run-1", f"Slurm requeued job {job_of(handle)}, and so took its nodes away", True)
    wait_until(lambda: yard.cluster.run("squeue", "--noheader") == "")


def test_a_gang_whose_node_fails_was_taken(yard: Yard) -> None:
    _, events = yard.start(nodes=2)
    node = yard.environment(1)["SLURMD_NODENAME"]
    wait_until(told(events, "placed"))
    yard.cluster.kill_node(node)
    yard.cluster.run("scontrol", "update", f"NodeName={node}", "State=DOWN", "Reason=test")  # spares SlurmdTimeout
    run_id, how, taken = gone(events)
    assert (run_id, taken) == ("run-1", True)
    assert "a node failed" in how


def test_a_gang_cancelled_by_somebody_else_is_told_and_was_not_taken(yard: Yard) -> None:
    handle, events = yard.start()
    yard.seen()
    yard.cluster.run("scancel", job_of(handle))
    run_id, how, taken = gone(events)
    assert (run_id, taken) == ("run-1", False)
    assert "cancelled" in how


# -- refusals --------------------------------------------------------------------------------------------------------


def test_a_job_that_slurm_refuses_says_why_and_leaves_nothing(yard: Yard) -> None:
    yard.again(partition="nowhere")
    with pytest.raises(EngineError, match=r"no partition 'nowhere'.*main, scavenge, short, urgent") as refused:
        yard.start()
    assert not isinstance(refused.value, EngineAway)
    assert list((yard.home / "runs").iterdir()) == []
    yard.again(constraint="unheard-of")
    with pytest.raises(EngineError, match=r"Invalid feature.*constraint"):
        yard.start()


def test_a_target_is_checked_against_what_the_cluster_has(slurm: SlurmCluster, home: Path) -> None:
    engine = engine_of(slurm, home)
    engine.check(attached())
    engine.check(attached(partition="short,main"))
    with pytest.raises(EngineError, match=r"no partition 'nowhere'. There are: main, scavenge, short, urgent"):
        engine.check(attached(partition="nowhere"))
    with pytest.raises(EngineError, match=r"No node of partition main has what Standard_D64s_v3 stands for.*4 cores"):
        engine.check(replace(attached(), vm_size="Standard_D64s_v3"))
    with pytest.raises(EngineError, match="none of Azure's sizes"):
        engine.check(replace(attached(), vm_size="Standard_Nothing"))
    with pytest.raises(EngineError, match="constraint"):
        engine.check(attached(constraint="unheard-of"))
    with pytest.raises(EngineError, match="gres"):
        engine.check(attached(gres="unheard-of:1"))
    with pytest.raises(EngineError, match="sbatch"):
        engine.check(attached(sbatch=["--unheard-of"]))


def test_what_a_cluster_offers_is_what_its_partition_has(slurm: SlurmCluster, home: Path) -> None:
    offer = engine_of(slurm, home, partition="short").offer()
    assert [(node.name, node.state, node.run_id) for node in offer.nodes] == [
        (name, "idle", None) for name in slurm.nodes
    ]
    assert offer.most_nodes == 4
    with pytest.raises(EngineError, match="no partition 'nowhere'"):
        engine_of(slurm, home, partition="nowhere").offer()


def test_commands_that_are_not_there_are_said(home: Path, tmp_path: Path) -> None:
    engine = SlurmEngine(RunFolders(home / "runs"), home, {"commands": str(tmp_path)})
    with pytest.raises(EngineError, match=f"sinfo was not found in {tmp_path}.*`commands`"):
        engine.check(attached())


# -- a controller that goes away -------------------------------------------------------------------------------------


def test_a_gang_survives_a_controller_that_goes_away_and_comes_back(yard: Yard) -> None:
    handle, events = yard.start(nodes=2)
    yard.seen(1)
    wait_until(told(events, "placed"))
    yard.cluster.stop_controller()
    with pytest.raises(EngineAway):
        yard.start(run_id="run-2")
    engine = yard.again()
    later = Listener()
    assert engine.watch("run-1", handle, later)
    engine.stop("run-1", handle)
    time.sleep(1.0)  # nothing can come of it, whatever is tried
    assert later.gone_runs.empty()
    yard.cluster.start_controller()
    wait_until((yard.folder / "stopped-0").exists)
    assert gone(later)[1].startswith("exit code 0")
    assert events.gone_runs.empty()


def test_a_gang_that_ended_while_nobody_watched_is_told_of(yard: Yard) -> None:
    handle, events = yard.start()
    yard.seen()
    engine = yard.again()
    yard.finish(3)
    wait_until(lambda: yard.cluster.run("squeue", "--noheader") == "")
    later = Listener()
    assert engine.watch("run-1", handle, later)
    assert gone(later)[1].startswith("exit code 3, ")
    assert engine.watch("another-run", {**handle, "name": "runyard-another-run"}, later)  # ids begin anew at times
    assert gone(later) == ("another-run", f"Slurm does not know job {job_of(handle)} any more", False)
    assert engine.watch("run-1", {**handle, "job": "4000000"}, later)
    assert gone(later) == ("run-1", "Slurm does not know job 4000000 any more", False)
    assert events.gone_runs.empty()


def test_a_gang_of_which_only_the_name_is_known_is_found(yard: Yard) -> None:
    """As after the death of a server that had not heard that its job was taken."""
    gang = gang_of(yard.home, "run-found")
    promise = yard.engine.promise(gang)
    assert yard.engine.find("run-found", promise, Listener()) is None
    handle, events = yard.start(run_id="run-found")
    yard.seen()
    engine, later = yard.again(), Listener()
    assert engine.find("run-found", promise, later) == handle
    second = replace(gang, plans=[replace(plan, attempt=2) for plan in gang.plans])
    assert engine.find("run-found", engine.promise(second), later) is None, "it is that of the first attempt"
    yard.finish(3)
    assert gone(later)[1].startswith("exit code 3, ")
    assert events.gone_runs.empty()


def test_a_gang_of_which_only_the_name_is_known_can_be_stopped(yard: Yard) -> None:
    promise = yard.engine.promise(gang_of(yard.home, "run-stopped"))
    _, events = yard.start(run_id="run-stopped")
    yard.seen()
    yard.again().stop("run-stopped", promise)
    wait_until(lambda: not yard.cluster.processes())
    yard.engine.stop("run-stopped", promise)  # nobody is there: no harm
    assert events.gone_runs.empty()


def test_nothing_is_asked_while_there_is_no_job(yard: Yard) -> None:
    def questions() -> list[str]:
        return re.findall(r"REQUEST_JOB_INFO.*?count:(\d+)", yard.cluster.run("sdiag"))

    _, events = yard.start()
    yard.finish()
    gone(events)
    before = questions()
    assert before
    time.sleep(1.0)
    assert questions() == before


# -- a real node runner ----------------------------------------------------------------------------------------------


def test_a_real_node_runner_runs_the_script_and_ends_with_its_folder(
    slurm: SlurmCluster, home: Path, tmp_path: Path
) -> None:
    engine, events = engine_of(slurm, home), Listener()
    touched = tmp_path / "touched"
    handle = engine.start(gang_of(home, command=f"touch {touched}; sleep 600"), events)
    wait_until(touched.exists)
    (home / "runs" / "run-1").rename(home / "elsewhere")  # a runner whose folder is gone ends by itself
    assert gone(events) == ("run-1", f"exit code 0, Slurm job {job_of(handle)}", False)
    engine.close()
