"""Real MPI over several nodes of this machine. What the node runners' link does is done here by starting processes.

RUNYARD_TEST_MPI_STARTS=300 makes that many starts in a row of `test_jobs_that_start_side_by_side_all_start`.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.node.mpi.conftest import Process
from tests.support.frameworks import FRAMEWORKS, environment

from runyard.contracts.distribution import MPI
from runyard.contracts.journal import RANK_VARIABLE
from runyard.contracts.plan import Launch, Plan
from runyard.node import mpi
from runyard.node.launch import processes
from runyard.node.launch.meeting import Meeting
from runyard.node.problem import RunProblem

DEADLINE = 120.0
OPENMPI4 = "openmpi"
EACH = [name for name in (OPENMPI4, "openmpi5", "mpich", "intelmpi") if name in FRAMEWORKS]
SIDE_BY_SIDE = 6
STARTS = int(os.environ.get("RUNYARD_TEST_MPI_STARTS", SIDE_BY_SIDE))

Until = Callable[[Callable[[], object], str], None]

ADD = """
import os, sys
from mpi4py import MPI
world = MPI.COMM_WORLD
beside = world.Split_type(MPI.COMM_TYPE_SHARED)
world.barrier()
print("sum", world.allreduce(world.rank), "of", world.size, "beside", beside.size)
print("args", *sys.argv[1:], sep="|")
for name in sorted(os.environ):
    print("%s=%s" % (name, os.environ[name]))
"""

END = """
import os, time
from mpi4py import MPI
MPI.COMM_WORLD.barrier()
if MPI.COMM_WORLD.rank == 3:
    print("going", flush=True)
    os._exit(7)
time.sleep(600)
"""

STAY = """
import time
from mpi4py import MPI
MPI.COMM_WORLD.barrier()
print("here", flush=True)
time.sleep(600)
"""


class Gang:
    """The nodes of one run, each with a folder of its own and the working folder in common."""

    def __init__(self, root: Path, framework: str, nodes: int, each: int, script: str, **launch: Any) -> None:
        self.work = root / "work"
        self.work.mkdir(parents=True)
        (self.work / "train.py").write_text(script)
        self.folders = [root / f"run@{node}" for node in range(nodes)]
        for folder in self.folders:
            (folder / "streams").mkdir(parents=True)
        distribution = {"kind": MPI, "nodes": nodes, "processes": nodes * each}
        self.plan = Plan(
            *("r1", "r1", "e", "e1", "w", "s", "g", "local", "t", "http://127.0.0.1:1"),
            launch=Launch(script="train.py", distribution=distribution, **launch),
        )
        self.meeting = Meeting(["127.0.0.1"] * nodes, ["here"] * nodes, 29999, {"0": 29998})
        self.argv = [str(environment(framework)), "train.py"]
        self.cookie = uuid.uuid4().hex
        self.variables = {
            "PATH": os.pathsep.join((os.path.dirname(self.argv[0]), os.environ["PATH"])),
            "HOME": os.environ.get("HOME", str(root)),
            "PWD": str(self.work),
            "AZ_BATCHAI_JOB_TEMP": str(root),
            processes.COOKIE: self.cookie,
            **self.plan.launch.environment_variables,
        }
        self.mpi = mpi.find(self.variables, root.parent)
        self.mpirun: subprocess.Popen[bytes] | None = None

    def agents(self) -> mpi.Agents:
        return mpi.Agents(self.folders[0], self.mpi, self._spawn)

    def start(self) -> subprocess.Popen[bytes]:
        argv, variables = mpi.command(self.mpi, self.plan, self.meeting, self.argv, self.variables, self.folders[0])
        self.mpirun = self._start(argv, variables)
        return self.mpirun

    def run(self) -> int:
        with self.agents():
            return self.start().wait(DEADLINE)

    def exits(self) -> dict[int, int]:
        return {rank: code for folder in self.folders for rank, code in mpi.exits(folder).items()}

    def log(self, node: int, rank: int) -> str:
        path = self.folders[node] / "streams" / f"std_log_process_{rank}.txt"
        return path.read_text() if path.exists() else ""

    def seen(self, node: int, rank: int) -> dict[str, str]:
        """The variables that a rank of ADD saw."""
        return dict(line.split("=", 1) for line in self.log(node, rank).splitlines() if "=" in line)

    def living(self) -> list[processes.Process]:
        return processes.of_run(self.cookie, [])

    def _spawn(self, node: int, argv: list[str], variables: Mapping[str, str]) -> Process:
        folder = self.folders[node]
        own = mpi.node_environment(self.plan, self.mpi, node, self.meeting, self.variables, folder, self.argv)
        return Process(self._start(argv, {**own, **variables}))

    def _start(self, argv: list[str], variables: Mapping[str, str]) -> subprocess.Popen[bytes]:
        with open(self.folders[0] / "mpirun.log", "ab") as log:
            return subprocess.Popen(
                argv,
                cwd=self.work,
                env=variables,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )


@pytest.fixture
def gang(tmp_path: Path) -> Iterator[Callable[..., Gang]]:
    made: list[Gang] = []

    def make(framework: str, nodes: int, each: int, script: str, **launch: Any) -> Gang:
        made.append(Gang(tmp_path / f"run{len(made)}", framework, nodes, each, script, **launch))
        return made[-1]

    yield make
    for each in made:
        left = processes.end(each.living, 0, time.sleep)
        if each.mpirun is not None:
            each.mpirun.wait(DEADLINE)
        for folder in each.folders:
            mpi.remove_files(folder)
        assert not left


@pytest.mark.parametrize("framework", EACH)
def test_ranks_of_two_nodes_work_together_without_ssh(gang: Callable[..., Gang], framework: str) -> None:
    run = gang(framework, 2, 2, ADD)
    assert run.run() == 0, (run.folders[0] / "mpirun.log").read_text()
    assert run.exits() == {0: 0, 1: 0, 2: 0, 3: 0}
    for node, rank in ((0, 0), (0, 1), (1, 2), (1, 3)):
        assert "sum 6 of 4 beside 2" in run.log(node, rank)
        seen = run.seen(node, rank)
        assert (seen["RANK"], seen["LOCAL_RANK"]) == (str(rank), str(rank % 2))
        assert (seen["WORLD_SIZE"], seen["LOCAL_WORLD_SIZE"], seen["NODE_RANK"]) == ("4", "2", str(node))
        assert (seen["OMPI_COMM_WORLD_RANK"], seen["OMPI_COMM_WORLD_SIZE"]) == (str(rank), "4")
        assert (seen["OMPI_COMM_WORLD_LOCAL_RANK"], seen["OMPI_COMM_WORLD_LOCAL_SIZE"]) == (str(rank % 2), "2")
        assert (seen["AZ_BATCHAI_TASK_INDEX"], seen["AZUREML_CR_NODE_RANK"]) == (str(rank), str(node))
        assert {name for name in seen if name.startswith(("RUNYARD_", "SLURM", "TMPDIR"))} == {
            processes.COOKIE,
            RANK_VARIABLE,
            "RUNYARD_HOROVOD_ADDRESS",
        }
        assert seen[RANK_VARIABLE] == str(rank)


@pytest.mark.parametrize("framework", EACH)
def test_a_rank_that_dies_is_known_by_its_exit_code(gang: Callable[..., Gang], framework: str, until: Until) -> None:
    run = gang(framework, 2, 2, END)
    with run.agents():
        started = run.start()
        until(lambda: 3 in run.exits(), "the end of rank 3")
        if framework != "mpich":  # whose mpiexec may wait for ever
            started.wait(DEADLINE)  # with any code: Open MPI 5 has been seen to end with 0
    assert run.exits()[3] == 7
    assert run.log(1, 3) == "going\n"


@pytest.mark.parametrize("framework", EACH)
def test_a_gang_that_is_stopped_leaves_nothing(gang: Callable[..., Gang], framework: str, until: Until) -> None:
    run = gang(framework, 2, 2, STAY)
    with run.agents():
        started = run.start()
        until(lambda: all("here" in run.log(rank // 2, rank) for rank in range(4)), "all ranks")
        started.terminate()
        assert started.wait(DEADLINE) != 0
        until(lambda: not run.living(), "the end of all processes")
    assert not (run.folders[0] / "mpi").exists()


@pytest.mark.parametrize("framework", EACH)
def test_jobs_that_start_side_by_side_all_start(gang: Callable[..., Gang], framework: str) -> None:
    """Daemons of several jobs, and several daemons of each, are on one machine: none may hinder another."""
    runs = [gang(framework, 2, 1, ADD) for _ in range(STARTS)]
    with ThreadPoolExecutor(SIDE_BY_SIDE) as threads:
        codes = list(threads.map(Gang.run, runs))
    failed = [(run.folders[0] / "mpirun.log").read_text() for run, code in zip(runs, codes, strict=True) if code]
    assert not failed, f"{len(failed)} of {STARTS} have failed; the first wrote: {failed[0]}"
    for run in runs:
        assert all("sum 1 of 2 beside 1" in run.log(rank, rank) for rank in (0, 1))


@pytest.mark.parametrize("framework", ["openmpi", "openmpi5"])
def test_nodes_on_one_machine_keep_mpis_files_apart(gang: Callable[..., Gang], framework: str, until: Until) -> None:
    run = gang(framework, 2, 1, STAY)
    with run.agents():
        started = run.start()
        until(lambda: all("here" in run.log(rank, rank) for rank in (0, 1)), "all ranks")
        places = [Path(os.readlink(folder / "mpi_files")) for folder in run.folders]
        assert all(any(place.iterdir()) for place in places)
        assert places[0] != places[1]
        started.terminate()
        started.wait(DEADLINE)
    for folder in run.folders:
        mpi.remove_files(folder)
    assert not any(place.exists() for place in places)


def test_a_node_without_room_for_mpis_files_says_where_it_needs_some(
    gang: Callable[..., Gang], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = gang(OPENMPI4, 1, 1, ADD)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    with pytest.raises(RunProblem) as raised, run.agents():
        run.start()
    assert raised.value.code == "MpiNotUsable"
    assert str(tmp_path / "gone") in raised.value.help


def test_an_environment_that_is_reached_by_a_link(gang: Callable[..., Gang], tmp_path: Path) -> None:
    """As in a home folder that is one: the ranks hung."""
    (tmp_path / "link").symlink_to(environment(OPENMPI4).parent.parent)
    run = gang(OPENMPI4, 2, 1, ADD)
    run.variables["PATH"] = os.pathsep.join((str(tmp_path / "link" / "bin"), os.environ["PATH"]))
    run.mpi = mpi.find(run.variables)
    assert run.run() == 0
    assert run.exits() == {0: 0, 1: 0}


def test_arguments_are_expanded_for_each_rank(gang: Callable[..., Gang]) -> None:
    arguments = [
        "--rank=$RANK of ${WORLD_SIZE}",
        "$NOT_SET",
        "${NOT_SET}",
        "",
        "it's",
        '"$',
        "$1 `id` $(id) \\",
        "a\nb",
    ]
    run = gang(OPENMPI4, 1, 2, ADD, arguments=arguments)
    assert run.run() == 0
    for rank in (0, 1):
        assert "args|" + "|".join([f"--rank={rank} of 2", *arguments[1:]]) + "\n" in run.log(0, rank)


def test_ranks_under_mpirun_share_the_gpus_and_cores_of_their_node(gang: Callable[..., Gang]) -> None:
    run = gang(OPENMPI4, 1, 2, ADD)
    run.variables["CUDA_VISIBLE_DEVICES"] = "3,5,6"
    assert run.run() == 0
    assert [run.seen(0, rank)["CUDA_VISIBLE_DEVICES"] for rank in (0, 1)] == ["3,5", "6"]
    assert run.seen(0, 0)["OMP_NUM_THREADS"] == str(max(1, len(os.sched_getaffinity(0)) // 2))


def test_the_users_own_variables_win_under_mpirun(gang: Callable[..., Gang]) -> None:
    own = {"CUDA_VISIBLE_DEVICES": "9", "OMP_NUM_THREADS": "5", "MASTER_PORT": "1", "OMPI_MCA_btl": "self,tcp"}
    own["TMPDIR"] = "/tmp/theirs"
    run = gang(OPENMPI4, 1, 2, ADD, environment_variables=own)
    assert run.run() == 0
    for rank in (0, 1):
        seen = run.seen(0, rank)
        assert {name: seen[name] for name in own} == own
