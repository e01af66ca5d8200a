"""A real Slurm cluster for tests: munged, slurmctld and four slurmd, in a folder of its own.

It has its own key, ports and node names, so that several can run side by side, and all of it ends with the tests:
the daemons by their process ids, and what Slurm started by the cluster's mark in its environment. Its nodes are this
machine, or machines that are apart (`ground`). Tests that use the one are marked `xdist_group("slurm")`, so that
one worker starts one cluster for all of them.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pytest
from tests.support import power
from tests.support.ground import Ground, Loopback
from tests.support.ports import free_ports
from tests.support.waiting import wait_until

from runyard.system.processes import prctl

DEADLINE = 120.0
NODES = 4
CORES, MEMORY_MB, GPUS = 4, 2000, 2
"""What each node says that it has. Nodes 1 and 2 have the GPUs, which are devices like /dev/null."""

_PROGRAMS = ("munged", "mungekey", "slurmctld", "slurmd", "slurmstepd", "sbatch", "srun", "scontrol")


@dataclass(frozen=True)
class Timers:
    """Seconds after which Slurm takes a node that does not answer for lost, and kills what it has told to end."""

    silence: int
    kill: int


HURRIED, USUAL = Timers(15, 5), Timers(300, 30)
"""Those that tests need not wait for, and those that Slurm has by default."""


@dataclass
class SlurmCluster:
    """A cluster that runs. `conf` is its configuration, for SLURM_CONF or a target's option."""

    folder: Path
    tag: str
    ports: list[int]
    ground: Ground
    timers: Timers
    _running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def conf(self) -> Path:
        return self.folder / "slurm.conf"

    @property
    def nodes(self) -> list[str]:
        return [f"{self.tag}-n{number}" for number in range(1, NODES + 1)]

    def run(self, *command: str, text: str = "") -> str:
        """What one of Slurm's commands prints."""
        environment = {**_without_slurm(), "SLURM_CONF": str(self.conf)}
        done = subprocess.run(
            command, env=environment, input=text, capture_output=True, text=True, timeout=DEADLINE, check=False
        )
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}: {done.stderr.strip()}")
        return done.stdout

    def start_controller(self) -> None:
        self.start_daemon("slurmctld", ["slurmctld", "-D", "-f", str(self.conf)])

    def stop_controller(self) -> None:
        """End the controller. Killed, it would forget what became of jobs in the last few seconds."""
        self.stop_daemon("slurmctld")

    def start_node(self, name: str) -> None:
        self.start_daemon(name, self.ground.command(name, ["slurmd", "-D", "-N", name, "-f", str(self.conf)]))

    def kill_node(self, name: str) -> None:
        """Kill a node as a power cut would: its daemon, and every process that Slurm has started on it."""
        self.ground.power_off(name)
        self._kill(name)
        wait_until(lambda: not _end(self._started_on(name)))

    def settle(self) -> None:
        """Cancel every job, and bring the whole cluster back to where a test may begin."""
        if not self._alive("slurmctld"):
            self.start_controller()
        for name in self.nodes:
            if not self._alive(name):
                self.start_node(name)
        wait_until(lambda: self._quietly("scontrol", "ping") is not None)
        self._quietly("scancel", "--user", "root")
        wait_until(lambda: self._quietly("squeue", "--noheader") == "")
        for line in self.run("sinfo", "--noheader", "--Node", "--format", "%N %T").splitlines():
            name, state = line.split()
            if not state.startswith("idle"):
                self._quietly("scontrol", "update", f"NodeName={name}", "State=RESUME")
        wait_until(lambda: self.idle() == set(self.nodes))

    def idle(self) -> set[str]:
        said = self._quietly("sinfo", "--noheader", "--Node", "--states", "idle", "--responding", "--format", "%N %T")
        return {line.split()[0] for line in (said or "").splitlines() if line.split()[1] == "idle"}

    def processes(self) -> list[psutil.Process]:
        """What lives of this cluster's jobs: Slurm's own supervisors, and every process of a job."""
        return [process for name in self.nodes for process in self._started_on(name)]

    def _started_on(self, node: str) -> list[psutil.Process]:
        found = []
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.NoSuchProcess, psutil.AccessDenied):
                if process.name() == "slurmstepd":
                    mine = self._stepd_of(process) == node
                else:
                    said = process.environ()
                    mine = said.get("SLURMD_NODENAME") == node and process.status() != psutil.STATUS_ZOMBIE
                if mine:
                    found.append(process)
        return found

    def _stepd_of(self, process: psutil.Process) -> str | None:
        """The node that a supervisor belongs to: it keeps files of that node's spool folder open."""
        with contextlib.suppress(psutil.Error, OSError):
            for link in Path(f"/proc/{process.pid}/fd").iterdir():
                with contextlib.suppress(OSError):
                    target = os.readlink(link)
                    for name in self.nodes:
                        if target in (f"{self.folder}/{name}.log", f"{self.folder}/spool/{name}"):
                            return name
        return None

    def start_daemon(self, name: str, command: list[str]) -> None:
        with (self.folder / f"{name}.out").open("ab") as log:
            self._running[name] = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**_without_slurm(), "SLURM_CONF": str(self.conf)},
                cwd=self.folder,
                start_new_session=True,
                preexec_fn=_end_with_parent(),
            )

    def stop_daemon(self, name: str) -> None:
        process = self._running.pop(name)
        process.terminate()
        process.wait(timeout=DEADLINE)

    def _alive(self, name: str) -> bool:
        process = self._running.get(name)
        return process is not None and process.poll() is None

    def _kill(self, name: str) -> None:
        process = self._running.pop(name)
        process.kill()
        process.wait()

    def _quietly(self, *command: str) -> str | None:
        try:
            return self.run(*command).strip()
        except (RuntimeError, subprocess.TimeoutExpired):
            return None

    def _end_all(self) -> None:
        for name in self.nodes:
            self.ground.power_off(name)
        for name in reversed([*self._running]):
            self._kill(name)
        wait_until(lambda: not _end(self.processes()))


@pytest.fixture(scope="session")
def slurm_cluster() -> Iterator[SlurmCluster]:
    """A cluster; one for all tests of this process. Skips where there can be none."""
    with started() as cluster:
        yield cluster


@pytest.fixture
def slurm(slurm_cluster: SlurmCluster) -> Iterator[SlurmCluster]:
    """The cluster with all nodes idle and nothing in its queue, before the test and after it."""
    yield from settled(slurm_cluster)


def settled(cluster: SlurmCluster) -> Iterator[SlurmCluster]:
    cluster.settle()
    yield cluster
    cluster.settle()
    wait_until(lambda: not cluster.processes())


@contextlib.contextmanager
def started(
    prepare: Callable[[SlurmCluster], None] = lambda cluster: None,
    make_ground: Callable[[], Ground] = Loopback,
    timers: Timers = HURRIED,
) -> Iterator[SlurmCluster]:
    """A cluster for as long as the block lasts. `prepare` may start daemons and add lines to the configuration, before
    the controller is started."""
    if os.geteuid() != 0:
        pytest.skip("a Slurm cluster of its own needs root")
    missing = [program for program in _PROGRAMS if shutil.which(program) is None]
    if missing:
        pytest.skip(f"Slurm is not installed ({', '.join(missing)}): apt-get install slurm-wlm munge")
    with contextlib.closing(make_ground()) as ground:
        folder = Path(tempfile.mkdtemp(prefix="ys", dir="/tmp"))  # short: the path of a socket has at most 107 bytes
        folder.chmod(0o755)
        cluster = SlurmCluster(folder, f"y{secrets.token_hex(3)}", free_ports(NODES + 1), ground, timers)
        try:
            _lay_out(cluster)
            _start_munge(cluster)
            prepare(cluster)
            cluster.start_controller()
            for name in cluster.nodes:
                cluster.start_node(name)
            try:
                wait_until(lambda: cluster.idle() == set(cluster.nodes))
            except AssertionError as error:
                said = [path.read_text("utf-8", "replace")[-2000:] for path in sorted(folder.glob("*.out"))]
                raise RuntimeError("the cluster did not come up:\n" + "\n".join(said)) from error
            yield cluster
        finally:
            cluster._end_all()
            _remove_cgroups(cluster)
            shutil.rmtree(folder, ignore_errors=True)


def _lay_out(cluster: SlurmCluster) -> None:
    folder, ground = cluster.folder, cluster.ground
    for name in ("state", "spool", "tmp", "munge"):
        (folder / name).mkdir()
    (folder / "munge").chmod(0o755)
    for name in cluster.nodes:
        (folder / "tmp" / name).mkdir()
        (folder / "spool" / name).mkdir()
    freezer = os.access("/sys/fs/cgroup/freezer/tasks", os.W_OK)
    lines = [
        f"ClusterName={cluster.tag}",
        f"SlurmctldHost={socket.gethostname()}({ground.address})",
        f"SlurmctldPort={cluster.ports[0]}",
        "SlurmUser=root",
        "SlurmdUser=root",
        "AuthType=auth/munge",
        f"AuthInfo=socket={folder}/munge/socket",
        f"StateSaveLocation={folder}/state",
        f"SlurmdSpoolDir={folder}/spool/%n",
        f"SlurmctldPidFile={folder}/slurmctld.pid",
        f"SlurmdPidFile={folder}/%n.pid",
        f"SlurmdLogFile={folder}/%n.log",
        f"TmpFS={folder}/tmp/%n",
        f"ProctrackType=proctrack/{'cgroup' if freezer else 'linuxproc'}",
        "TaskPlugin=task/none",
        "MpiDefault=none",
        "SelectType=select/cons_tres",
        "SelectTypeParameters=CR_CPU",
        "SlurmdParameters=config_overrides",
        "SchedulerParameters=batch_sched_delay=0,sched_interval=5,bf_interval=5",
        "PreemptType=preempt/partition_prio",
        "PreemptMode=CANCEL",
        "JobCompType=jobcomp/none",
        "ReturnToService=2",
        f"SlurmdTimeout={cluster.timers.silence}",
        f"KillWait={cluster.timers.kill}",
        "MessageTimeout=5",
        "GresTypes=gpu",
    ]
    for number, name in enumerate(cluster.nodes):
        gres = f" Gres=gpu:{GPUS}" if number < 2 else ""
        lines.append(
            f"NodeName={name} NodeHostname={ground.host_name(name)} NodeAddr={ground.address_of(name)} "
            f"Port={cluster.ports[number + 1]} CPUs={CORES} RealMemory={MEMORY_MB}{gres}"
        )
    both = f"Nodes={','.join(cluster.nodes)} State=UP"
    lines += [
        f"PartitionName=main {both} Default=YES MaxTime=7-00:00:00",
        f"PartitionName=short {both} MaxTime=60",
        f"PartitionName=scavenge {both} MaxTime=60 PriorityTier=1",
        f"PartitionName=urgent {both} MaxTime=60 PriorityTier=10",
    ]
    cluster.conf.write_text("\n".join(lines) + "\n")
    (folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\nCgroupMountpoint=/sys/fs/cgroup\n")
    devices = [(name, folder / f"{name}-gpu{index}") for name in cluster.nodes[:2] for index in range(GPUS)]
    for _, file in devices:
        os.mknod(file, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
    (folder / "gres.conf").write_text("".join(f"NodeName={name} Name=gpu File={file}\n" for name, file in devices))


def _start_munge(cluster: SlurmCluster) -> None:
    place = cluster.folder / "munge"
    subprocess.run(["mungekey", "--create", f"--keyfile={place}/key"], check=True, capture_output=True)
    files = {"key-file": "key", "socket": "socket", "pid-file": "pid", "log-file": "log", "seed-file": "seed"}
    arguments = [f"--{name}={place}/{file}" for name, file in files.items()]
    cluster.start_daemon("munged", ["munged", "--foreground", *arguments])
    wait_until((place / "socket").exists)


def _without_slurm() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith(("SLURM", "SBATCH"))}


def _end_with_parent() -> Callable[[], object] | None:
    """A worker that is killed takes the daemons along."""
    call = prctl()
    return None if call is None else lambda: call(1, signal.SIGTERM.value)


def _end(processes: list[psutil.Process]) -> list[psutil.Process]:
    power.cut(processes)
    return processes


def _remove_cgroups(cluster: SlurmCluster) -> None:
    for name in cluster.nodes:
        for top in Path("/sys/fs/cgroup").glob(f"*/slurm_{name}"):
            for path, _, _ in os.walk(top, topdown=False):
                with contextlib.suppress(OSError):
                    os.rmdir(path)
