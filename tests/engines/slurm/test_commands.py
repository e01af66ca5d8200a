"""If these fail, a refusal is retried for ever, a cluster that is away fails runs, or secrets reach other jobs."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.engines.slurm.conftest import program

from runyard.engines.base import EngineAway, EngineError
from runyard.engines.slurm.commands import Commands


def test_commands_that_do_not_answer_are_told_from_those_that_refuse(tmp_path: Path, commands: Commands) -> None:
    program(
        tmp_path,
        "sbatch",
        "echo 'sbatch: error: Batch job submission failed: Unable to contact slurm controller' >&2; exit 1",
    )
    with pytest.raises(EngineAway, match="Unable to contact"):
        commands.run("sbatch")
    for code in ("QOSMaxSubmitJobPerUserLimit", "AssocGrpSubmitJobsLimit", "MaxSubmitJobsPerAccount"):
        program(tmp_path, "sbatch", f"echo 'sbatch: error: {code}' >&2; exit 1")
        with pytest.raises(EngineAway, match=f"takes no more jobs for now: {code}"):
            commands.run("sbatch")
    program(tmp_path, "sbatch", "echo 'sbatch: fatal: Could not establish a configuration source' >&2; exit 1")
    with pytest.raises(EngineError, match="SLURM_CONF"):
        commands.run("sbatch")
    with pytest.raises(EngineError, match="squeue was not found in"):
        commands.run("squeue")


def test_nothing_of_the_server_or_of_another_job_reaches_a_job(
    tmp_path: Path, commands: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("SLURM_JOB_ID", "SBATCH_PARTITION", "RUNYARD_TOKEN"):
        monkeypatch.setenv(name, "secret")
    monkeypatch.setenv("SLURM_CONF", "/etc/slurm/other.conf")
    monkeypatch.setenv("MINE", "kept")
    program(tmp_path, "sbatch", "/usr/bin/env")
    said = commands.run("sbatch", extra={"RUNYARD_RUN_TOKEN": "t"}).splitlines()
    assert {"SLURM_CONF=/etc/slurm/other.conf", "MINE=kept", "RUNYARD_RUN_TOKEN=t"} <= set(said)
    assert not any("secret" in line for line in said)
