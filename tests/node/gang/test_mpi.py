"""Runs under a real mpirun, whose daemons the node runners start: how they end, and who is named when they fail."""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.frameworks import environment

from runyard.contracts.distribution import MPI, Distribution
from runyard.node.launch import interfaces

if TYPE_CHECKING:
    from tests.node.conftest import Gang

Prepare = Callable[..., "Gang"]

SUM = """
import sys
from mpi4py import MPI
world = MPI.COMM_WORLD
print(world.rank, 'of', world.size, 'sum', world.allreduce(world.rank), sys.argv[1], flush=True)
"""
STAY = """
import time
from mpi4py import MPI
MPI.COMM_WORLD.Barrier()
print('here', flush=True)
time.sleep(600)
"""
MEET = """
import os, socket
from mpi4py import MPI
world, own = MPI.COMM_WORLD, os.environ
if own["OMPI_COMM_WORLD_LOCAL_SIZE"] == own["OMPI_COMM_WORLD_SIZE"]:
    host = own["AZ_BATCHAI_MPI_MASTER_NODE"]
else:
    host = own["AZ_BATCH_MASTER_NODE"].split(":")[0]
address = socket.gethostbyname(host)
listening = socket.create_server((address, 0)) if world.rank == 0 else None
port = world.bcast(listening and listening.getsockname()[1])
if listening:
    met = sorted(int(listening.accept()[0].recv(9)) for _ in range(1, world.size))
    print("met", met, own["NCCL_SOCKET_IFNAME"], flush=True)
else:
    socket.create_connection((host, port)).sendall(own["OMPI_COMM_WORLD_RANK"].encode())
"""
FAIL = """
import os
from mpi4py import MPI
if MPI.COMM_WORLD.rank == 3:
    print('about to fail', flush=True)
    os._exit(7)
MPI.COMM_WORLD.Barrier()
"""


@pytest.fixture(scope="module")
def python() -> Path:
    return environment("openmpi")


def launch(python: Path) -> dict[str, Any]:
    return {"interpreter": str(python), "environment": {"interpreter": str(python)}}


@pytest.fixture
def temporary(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where the node runners have MPI put its files; a short name, because sockets are among them."""
    with tempfile.TemporaryDirectory(prefix="yr", dir="/tmp") as folder:
        monkeypatch.setenv("TMPDIR", folder)
        yield Path(folder)


@pytest.mark.parametrize("nodes", [1, 2])
def test_ranks_find_each_other_and_leave_no_files(gang: Prepare, python: Path, nodes: int, temporary: Path) -> None:
    made = gang({"train.py": SUM}, Distribution(MPI, nodes, 4), arguments=["$RANK"], **launch(python))
    result = made.finish()
    assert result["status"] == "Completed", result["error"]
    assert [made.std_log(rank) for rank in range(4)] == [f"{rank} of 4 sum 6 {rank}\n" for rank in range(4)]
    assert list(temporary.iterdir()) == []


def test_who_takes_over_from_killed_runners_removes_mpis_files(gang: Prepare, python: Path, temporary: Path) -> None:
    made = gang({"train.py": STAY}, Distribution(MPI, 2, 2), **launch(python))
    made.start()
    for rank in range(2):
        made.wait_for_output(rank, "here")
    assert len(list(temporary.iterdir())) == 2
    runners = [node.runner for node in made.nodes if node.runner is not None]
    for number in (signal.SIGSTOP, signal.SIGKILL):  # first all are stopped: none shall see another die
        for runner in runners:
            runner.send_signal(number)
    for runner in runners:
        runner.wait()
    made.nodes[0].finish("--rescue")
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize("nodes", [1, 2])
def test_ranks_meet_where_deepspeed_lets_them_meet_in_a_job_of_azureml(gang: Prepare, python: Path, nodes: int) -> None:
    """`MEET` finds rank 0 by the rules of deepspeed.comm.patch_aml_env_for_torch_nccl_backend."""
    made = gang({"train.py": MEET}, Distribution(MPI, nodes, 2), **launch(python))
    result = made.finish()
    assert result["status"] == "Completed", result["error"]
    assert made.std_log(0) == f"met [1] {interfaces.loopback()}\n"


def test_the_rank_that_failed_is_named(gang: Prepare, python: Path) -> None:
    made = gang({"train.py": FAIL}, Distribution(MPI, 2, 4), **launch(python))
    error = made.finish()["error"]
    assert error["message"].startswith(f"Rank 3 on node 1 ({os.uname().nodename}) failed with exit code 7.")
    assert "about to fail" in error["message"]
    assert (error["rank"], error["node"], error["exit"]["code"]) == (3, 1, 7)


def test_no_mpi(gang: Prepare) -> None:
    made = gang({"train.py": SUM}, Distribution(MPI, 1, 2), environment_variables={"PATH": "/usr/bin:/bin"})
    error = made.finish()["error"]
    assert error["code"] == "MpiNotFound"
    assert error["help"]
