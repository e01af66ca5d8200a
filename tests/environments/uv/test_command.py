from __future__ import annotations

from pathlib import Path

import pytest

from runyard.contracts.environment import Specification
from runyard.environments import tools
from runyard.environments.builder import Order
from runyard.environments.problem import EnvironmentProblem
from runyard.environments.uv import command
from runyard.environments.uv.command import OutOfPatience, Uv
from runyard.environments.uv.requirements import Options

SECRET = "RUNYARD_SECRET_" + "0" * 32


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program in the place of uv, which writes down how it was called."""
    path = tmp_path / "uv"
    path.write_text('#!/bin/sh\necho "$@"\necho "venv=$VIRTUAL_ENV colour=$NO_COLOR"\n')
    path.chmod(0o755)
    monkeypatch.setattr(tools, "find", lambda name: path)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    return path


def uv(log: list[str], **order: object) -> Uv:
    return Uv.for_order(Order(Specification(), report=log.append, **order), Options())  # type: ignore[arg-type]


def test_uv_is_not_led_elsewhere_by_the_shell(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VIRTUAL_ENV", "/home/me/venv")
    log: list[str] = []
    finished = uv(log).run("--version")
    assert finished.output.splitlines() == log == ["--version", "venv= colour=1"]


def test_packages_are_installed_from_a_file_without_secrets_in_it(program: Path, tmp_path: Path) -> None:
    log: list[str] = []
    called = uv(log, secrets={SECRET: "hunter2"})
    line = f"mine @ https://me:${{{SECRET}}}@host/mine.whl"
    called.install(Path("/env/bin/python"), [line, "numpy"], tmp_path)
    assert log[0].startswith("pip install --python /env/bin/python --compile-bytecode -r")
    text = (tmp_path / "requirements.txt").read_text()
    assert "numpy" in text
    assert "hunter2" not in text


def test_a_question_to_uv_is_not_logged_and_has_a_deadline(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log: list[str] = []
    assert uv(log).resolve(Path("/env/bin/python"), ["numpy"], tmp_path).output.startswith("pip compile --quiet")
    assert log == []
    monkeypatch.setattr(command, "PATIENCE", -1.0)
    with pytest.raises(OutOfPatience):
        uv(log).resolve(Path("/env/bin/python"), ["numpy"], tmp_path)


def test_a_machine_without_uv_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "find", lambda name: None)
    with pytest.raises(EnvironmentProblem) as refused:
        uv([])
    assert (refused.value.code, "pip install uv" in refused.value.help) == ("UvNotFound", True)
