"""The example of a distributed job, as its reader starts it: on a machine where nothing is set up."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from runyard.sdk.server_process import stop_server

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.xdist_group("gangs-local")


def test_the_plain_example_makes_its_cluster_and_runs_on_two_nodes(tmp_path: Path) -> None:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("RUNYARD_", "AZUREML_"))}
    environment = {**kept, "HOME": str(tmp_path), "RUNYARD_PORT": "0"}
    try:
        done = subprocess.run(
            [sys.executable, "examples/distributed/submit.py", "plain"],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert "Execution Summary" in done.stdout
        for rank in range(4):
            assert f"best score of rank {rank}: 0." in done.stdout
            assert f"outputs/best_of_rank_{rank}.txt" in done.stdout
            assert f"user_logs/std_log_process_{rank}.txt" in done.stdout
    finally:
        stop_server(tmp_path / ".runyard")
