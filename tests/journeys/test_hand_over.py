"""The server dies in the very moment in which a cluster has taken a run, before it has heard that it did."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from tests.journeys.conftest import Yard
from tests.support.slurm_cluster import SlurmCluster

from azureml.core import Experiment
from azureml.core.compute import ComputeTarget, SlurmCompute

pytestmark = pytest.mark.xdist_group("slurm")

KILLS_ITS_CALLER = """#!/bin/sh
said=$({sbatch} "$@") || exit
case " $* " in *" --test-only "*) ;; *) [ -e {done} ] || {{ touch {done}; kill -9 $PPID; }} ;; esac
echo "$said"
"""


@pytest.mark.parametrize("fate", ["completes", "is cancelled"])
def test_a_job_that_slurm_took_is_found_again_and_runs_once(
    yard: Yard, slurm: SlurmCluster, tmp_path: Path, fate: str
) -> None:
    commands, done, begun = tmp_path / "commands", tmp_path / "done", tmp_path / "begun"
    commands.mkdir()
    for program in ("squeue", "scancel", "sinfo", "sacct", "scontrol"):
        (commands / program).symlink_to(str(shutil.which(program)))
    (commands / "sbatch").write_text(KILLS_ITS_CALLER.format(sbatch=shutil.which("sbatch"), done=done))
    (commands / "sbatch").chmod(0o755)
    attached = SlurmCompute.attach_configuration(partition="main", conf=str(slurm.conf), commands=str(commands))
    ComputeTarget.attach(yard.workspace, "hpc", attached)
    former = yard.server.pid
    script = f"""
        import os, time
        with open({str(begun)!r}, "a") as file:
            file.write("begun\\n")
        while not os.path.exists({str(begun)!r} + ".end"):
            time.sleep(0.05)
        print("ended well")
    """
    config = yard.config(script)
    config.run_config.target = "hpc"
    run = Experiment(yard.workspace, "hand-over").submit(config)
    yard.wait(done.exists, "the server to be killed")
    yard.wait(begun.exists, "the job to begin although there is no server")
    assert run.get_status() not in ("Completed", "Failed", "Canceled")
    assert yard.server.pid != former
    if fate == "is cancelled":
        run.cancel()
        yard.wait(lambda: run.get_status() == "Canceled", "the run to be cancelled")
    else:
        Path(f"{begun}.end").touch()
        run.wait_for_completion()
        assert "ended well" in run.get_details_with_logs()["logFiles"]["user_logs/std_log.txt"]
    yard.wait(lambda: not slurm.processes(), "the job to go")
    yard.wait(lambda: not os.listdir(yard.home / "runs"), "the folder of the run to go")
    assert begun.read_text() == "begun\n", "it was started once"
