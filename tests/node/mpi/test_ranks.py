"""The shell around a rank: run here by a real shell, with the variables that mpirun would set."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from runyard.contracts.distribution import MPI
from runyard.contracts.plan import Launch, Plan
from runyard.node.launch.meeting import Meeting
from runyard.node.mpi import flavours
from runyard.node.mpi.files import remove_files
from runyard.node.mpi.flavours import Mpi
from runyard.node.mpi.ranks import PROGRAM, exits, node_environment

MEETING = Meeting(["127.0.0.1"] * 2, ["here"] * 2, 29999, {"0": 29998})


def start_rank(folder: Path, argv: list[str], arguments: list[str], **set_by_mpirun: str) -> int:
    """Start rank 3, the second of node 1, as MPICH's daemon would; its exit code."""
    for name in ("streams", "work"):
        (folder / name).mkdir()
    launch = Launch(script="x", arguments=arguments, distribution={"kind": MPI, "nodes": 2, "processes": 4})
    plan = Plan(*("r1", "r1", "e", "e1", "w", "s", "g", "local", "t", "http://127.0.0.1:1"), launch=launch)
    mpi = Mpi(flavours.MPICH, "4.2.1", "/usr/bin/mpiexec.hydra")
    variables = {"PATH": os.defpath, "HOME": str(folder), "PWD": str(folder / "work"), "CUDA_VISIBLE_DEVICES": "4,7"}
    found = node_environment(plan, mpi, 1, MEETING, variables, folder, argv)
    ranked = {**found, "PMI_RANK": "3", "MPI_LOCALRANKID": "1", **set_by_mpirun}
    try:
        return subprocess.run(PROGRAM, env=ranked, cwd="/", timeout=60).returncode
    finally:
        remove_files(folder)


def test_a_rank_has_its_place_its_folder_its_log_and_its_gpus(tmp_path: Path) -> None:
    shown = 'echo "$RANK $LOCAL_RANK $WORLD_SIZE $OMPI_COMM_WORLD_RANK $CUDA_VISIBLE_DEVICES" "$@"; pwd; env'
    assert start_rank(tmp_path, ["/bin/sh", "-c", shown, "x"], ["--rank=${RANK}", "$NOT_SET", "it's"]) == 0
    first, place, *variables = (tmp_path / "streams" / "std_log_process_3.txt").read_text().splitlines()
    assert first == "3 1 4 3 7 --rank=3 $NOT_SET it's"
    assert place == str(tmp_path / "work")
    assert not [line for line in variables if line.startswith(("RUNYARD_MPI", "RUNYARD_NODE", "TMPDIR="))]


def test_how_a_rank_ended_is_written_down(tmp_path: Path) -> None:
    assert start_rank(tmp_path, ["/bin/sh", "-c", "exit 7"], []) == 7
    assert exits(tmp_path) == {3: 7}


def test_a_rank_that_was_killed_counts_as_128_and_its_signal(tmp_path: Path) -> None:
    start_rank(tmp_path, ["/bin/sh", "-c", "kill -9 $$"], [])
    assert exits(tmp_path) == {3: 137}


@pytest.mark.parametrize("content", ["", "\n"])
def test_an_end_that_is_being_written_is_not_read_yet(tmp_path: Path, content: str) -> None:
    (tmp_path / "streams").mkdir()
    (tmp_path / "streams" / "rank_0.exit").write_text(content)
    (tmp_path / "streams" / "rank_x.exit").write_text("1\n")
    assert exits(tmp_path) == {}
