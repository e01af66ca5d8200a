"""If these fail, somebody whose runs wait for Slurm is not told what is missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from runyard.contracts.compute import Target
from runyard.engines.slurm.diagnosis import COMMANDS, diagnose


def test_commands_are_looked_for_where_the_target_has_them(tmp_path: Path) -> None:
    targets = [Target("hpc", "slurm", options={"commands": str(tmp_path)})]
    (missing,) = diagnose(targets)
    assert not missing.ok
    assert f"{tmp_path}: sbatch" in missing.message
    for name in COMMANDS:
        (tmp_path / name).touch(mode=0o755)
    (found,) = diagnose(targets)
    assert (found.ok, str(tmp_path) in found.message) == (True, True)


def test_slurm_is_not_missed_by_those_who_do_not_use_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert list(diagnose([])) == []
    (missing,) = diagnose([Target("hpc", "slurm")])
    assert "not found in PATH" in missing.message
