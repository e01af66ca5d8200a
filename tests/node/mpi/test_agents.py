"""mpirun's calls in place of ssh: a command runs on the right node, and the agent ends as it did."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.node.mpi.conftest import Process

from runyard.node.mpi import flavours
from runyard.node.mpi.agents import Agents
from runyard.node.problem import RunProblem

DEADLINE = 120.0

Until = Callable[[Callable[[], object], str], None]


@pytest.fixture
def call(tmp_path: Path) -> Callable[..., Any]:
    """Calls the agent as mpirun does; the node's MPI is installed below /there."""
    found = flavours.Mpi(flavours.OPENMPI, "4.1.8", "/here/bin/mpirun")

    def spawn(node: int, argv: list[str], variables: Mapping[str, str]) -> Process:
        if node == 2:
            raise RunProblem("NodeLost", "node 2 is lost")
        environment = {**variables, "RUNYARD_MPI_PREFIX": "/there", "NODE": str(node)}
        return Process(subprocess.Popen(argv, env=environment))

    def called(folder: Path, *words: str) -> int:
        folder.mkdir()
        with Agents(folder, found, spawn):
            assert os.access(folder / "mpi" / "agent", os.X_OK)
            return subprocess.run([os.path.realpath(folder / "mpi" / "agent"), *words], timeout=DEADLINE).returncode

    return called


def test_an_agent_ends_as_the_command_on_the_node_does(call: Callable[..., int], tmp_path: Path) -> None:
    assert call(tmp_path / "run", "-x", "runyard-7", "test", '"$NODE"', "=", "7", "&&", "exit", "5") == 5
    assert call(tmp_path / "killed", "runyard-1", "kill", "-9", "$$") == 137
    assert call(tmp_path / "elsewhere", "runyard-1", "test", '"/here/bin/orted"', "=", "/there/bin/orted") == 0


def test_an_agent_fails_when_its_node_is_lost(call: Callable[..., int], tmp_path: Path) -> None:
    assert call(tmp_path / "run", "runyard-2", "true") == 1


def test_a_folder_whose_name_mpirun_would_take_apart(call: Callable[..., int], tmp_path: Path) -> None:
    folder = tmp_path / "of me: mine"
    assert call(folder, "runyard-1", "exit", "3") == 3
    assert list(folder.iterdir()) == []


def test_what_still_runs_is_stopped_when_mpirun_is_done(tmp_path: Path, until: Until) -> None:
    (tmp_path / "run").mkdir()
    started: list[Process] = []

    def spawn(node: int, argv: list[str], variables: Mapping[str, str]) -> Process:
        started.append(Process(subprocess.Popen(argv, env={})))
        return started[-1]

    found = flavours.Mpi(flavours.OPENMPI, "4.1.8", "/here/bin/mpirun")
    with Agents(tmp_path / "run", found, spawn):
        agent = subprocess.Popen([tmp_path / "run" / "mpi" / "agent", "runyard-1", "exec sleep 600"])
        until(lambda: started, "the command")
    assert agent.wait(DEADLINE) == 1
    assert started[0].process.wait(DEADLINE) == -9
