"""The command line of each MPI's launcher: as many ranks as wanted, on the nodes of the run, by way of the agent."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from runyard.contracts.distribution import MPI
from runyard.contracts.plan import Launch, Plan
from runyard.node.launch.meeting import Meeting
from runyard.node.mpi import flavours
from runyard.node.mpi.files import remove_files
from runyard.node.mpi.flavours import Mpi
from runyard.node.mpi.mpirun import command
from runyard.node.mpi.ranks import PROGRAM

APART = Meeting(["10.0.0.1", "10.0.0.2"], ["a", "b"], 29999)
TOGETHER = Meeting(["127.0.0.1"] * 2, ["here"] * 2, 29999)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path
    remove_files(tmp_path)


def words(mpi: Mpi, meeting: Meeting, folder: Path) -> list[str]:
    launch = Launch(script="x", distribution={"kind": MPI, "nodes": 2, "processes": 6})
    plan = Plan(*("r1", "r1", "e", "e1", "w", "s", "g", "local", "t", "http://127.0.0.1:1"), launch=launch)
    argv, variables = command(mpi, plan, meeting, ["python"], {"PATH": "/bin"}, folder)
    assert variables["PATH"].split(":")[0] == mpi.folder, "where the program is found by its name"
    assert argv[-len(PROGRAM) - 2 :] == ["-np", "6", *PROGRAM]
    return argv[: -len(PROGRAM) - 2]


def test_open_mpi_is_given_hosts_with_slots(folder: Path) -> None:
    version4 = Mpi(flavours.OPENMPI, "4.1.8", "/usr/bin/mpirun")
    assert words(version4, APART, folder)[:3] == ["mpirun", "--host", "localhost:3,runyard-1:3"]
    assert words(version4, TOGETHER, folder)[2] == "runyard-0:3,runyard-1:3", "of one machine, by names that differ"
    version5 = Mpi(flavours.OPENMPI, "5.0.3", "/usr/bin/mpirun")
    assert words(version5, TOGETHER, folder)[2] == "localhost:3,runyard-1:3"


@pytest.mark.parametrize(
    ("flavour", "option", "hosts"),
    [
        (flavours.MPICH, "-launcher-exec", "10.0.0.1:3,runyard-1:3"),
        (flavours.INTEL, "-bootstrap-exec", "10.0.0.1,runyard-1"),
    ],
)
def test_hydra_starts_its_daemons_by_the_agent(folder: Path, flavour: str, option: str, hosts: str) -> None:
    found = words(Mpi(flavour, "4.2.1", "/usr/bin/mpiexec.hydra"), APART, folder)
    assert found[0] == "mpiexec.hydra"
    assert found[found.index(option) + 1].endswith("/mpi/agent")
    assert found[found.index("-hosts") + 1] == hosts
