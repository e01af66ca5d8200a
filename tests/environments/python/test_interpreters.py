from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from runyard.environments.python import interpreters


@pytest.fixture
def only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is all of PATH, on a machine with nothing else from pyenv or uv."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    monkeypatch.setenv("UV_PYTHON_INSTALL_DIR", str(tmp_path / "managed"))
    return folder


def _python(path: Path, version: str, implementation: str = "cpython") -> Path:
    """A stand-in that answers what a Python of that version would, and counts how often it is asked."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho asked >> {path}.asked\necho {implementation} {version} {path}\n")
    path.chmod(0o755)
    return path


def _versions(memory: Path) -> list[str]:
    return [each.text for each in interpreters.installed(memory)]


def test_the_running_python_is_the_one_below_its_environment() -> None:
    found = interpreters.running()
    said = "import sys; print(sys.prefix == sys.base_prefix, '%d.%d.%d' % sys.version_info[:3])"
    answer = subprocess.run([found.path, "-c", said], capture_output=True, text=True, check=True).stdout.split()
    assert answer == ["True", found.text]
    assert found.version == sys.version_info[:3]


def test_a_virtual_environments_python_counts_as_the_one_below_it(only: Path, tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "venv")], check=True)
    found = interpreters.ask(str(tmp_path / "venv/bin/python"))
    assert found is not None
    assert os.path.realpath(found.path) == os.path.realpath(interpreters.running().path)
    assert not found.path.startswith(str(tmp_path))


def test_pythons_are_found_on_the_path_in_pyenv_and_among_uvs_own(only: Path, tmp_path: Path) -> None:
    _python(only / "python3.7", "3.7.1")
    _python(tmp_path / "pyenv/versions/3.9.18/bin/python3.9", "3.9.18")
    _python(tmp_path / "managed/cpython-3.20.1-linux/bin/python3.20", "3.20.1")
    found = _versions(tmp_path)
    assert found[0] == interpreters.running().text
    assert {"3.7.1", "3.9.18", "3.20.1"} <= set(found)
    assert found[1] == "3.20.1"


def test_a_python_is_asked_once_until_its_file_changes(only: Path, tmp_path: Path) -> None:
    python = _python(only / "python3.9", "3.9.1")
    assert "3.9.1" in _versions(tmp_path)
    assert "3.9.1" in _versions(tmp_path)
    assert (only / "python3.9.asked").read_text().splitlines() == ["asked"]
    _python(python, "3.9.22")
    assert "3.9.22" in _versions(tmp_path)


def test_what_is_no_cpython_and_what_does_not_run_is_passed_over(only: Path, tmp_path: Path) -> None:
    _python(only / "python3.9", "3.9.1", "pypy")
    (only / "python3.10").write_text("#!/nowhere\n")
    (only / "python3.10").chmod(0o755)
    _python(tmp_path / "pyenv/shims/python3.6", "3.6.1")
    assert not {"3.9.1", "3.6.1"} & set(_versions(tmp_path))


def test_a_damaged_memory_is_written_anew(only: Path, tmp_path: Path) -> None:
    (tmp_path / interpreters.MEMORY).write_text("{")
    _python(only / "python3.9", "3.9.1")
    assert "3.9.1" in _versions(tmp_path)
    assert str(only / "python3.9") in json.loads((tmp_path / interpreters.MEMORY).read_text())
