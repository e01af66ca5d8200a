from __future__ import annotations

import sys
from pathlib import Path

import pytest

from runyard.environments import tools


def _program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_uv_is_there_because_runyard_depends_on_it() -> None:
    assert tools.find("uv") is not None


def test_a_tool_beside_this_python_wins_over_one_on_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    beside, on_path = _program(tmp_path / "venv/bin/a-tool"), _program(tmp_path / "bin/a-tool")
    monkeypatch.setenv("PATH", str(on_path.parent))
    assert tools.find("a-tool") == on_path
    monkeypatch.setattr(sys, "executable", str(beside.parent / "python"))
    assert tools.find("a-tool") == beside


def test_a_conda_in_the_home_folder_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("MAMBA_EXE", raising=False)
    micromamba = _program(tmp_path / "micromamba/bin/micromamba")
    assert tools.find_conda() == micromamba


def test_a_conda_that_the_shell_was_set_up_with_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("MAMBA_EXE", str(_program(tmp_path / "elsewhere/micromamba")))
    assert tools.find("micromamba") == tmp_path / "elsewhere/micromamba"


def test_what_cannot_be_run_is_no_tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "a-tool").touch(mode=0o644)
    assert tools.find("a-tool") is None
