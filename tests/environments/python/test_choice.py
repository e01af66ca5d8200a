from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from runyard.environments.problem import EnvironmentProblem
from runyard.environments.python import interpreters
from runyard.environments.python.choice import Chooser
from runyard.environments.python.interpreters import Interpreter


def _python(minor: int, patch: int = 1) -> Interpreter:
    return Interpreter(f"/pythons/3.{minor}.{patch}", (3, minor, patch))


RUNNING = _python(11, 7)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Chooser:
    """A machine with some Pythons (a stand-in list), whose uv says that it knows no other."""
    here = [RUNNING, _python(13), _python(10, 4), _python(10, 9), _python(8), _python(6, 15)]
    monkeypatch.setattr(interpreters, "running", lambda: RUNNING)
    monkeypatch.setattr(interpreters, "installed", lambda memory: here)
    return _chooser(tmp_path, "echo error: No download found for request; exit 2")


def _chooser(folder: Path, script: str) -> Chooser:
    uv = folder / "uv"
    uv.write_text(f'#!/bin/sh\necho "$@" >> {folder}/asked\n{script}\n')
    uv.chmod(0o755)
    return Chooser(uv, folder, dict(os.environ), lambda line: None, lambda: None)


@pytest.mark.parametrize(
    ("wanted", "taken"),
    [
        ("", "3.11.7"),
        ("3.11", "3.11.7"),
        ("3.10", "3.10.9"),
        ("3.10.4", "3.10.4"),
        (">=3.8,<3.11", "3.10.9"),
        (">=3.8", "3.13.1"),
        ("3.8", "3.8.1"),
        ("3.8.13", "3.11.7"),  # what SDK v1 fills in
        ("3.10.18", "3.11.7"),
    ],
)
def test_which_of_the_installed_is_taken(machine: Chooser, wanted: str, taken: str) -> None:
    choice = machine.choose(wanted)
    assert choice.interpreter.text == taken
    assert choice.changes == []


def test_what_sdk_v1_fills_in_is_no_pin_and_the_log_says_so(machine: Chooser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interpreters, "installed", lambda memory: [RUNNING, _python(13)])
    choice = machine.choose("3.8.13")
    assert choice.interpreter == RUNNING
    assert "3.8.13" in choice.notes[0]
    assert "3.11.7" in choice.notes[0]


def test_a_pin_that_cannot_be_had_is_refused_with_the_reasons_and_the_ways_out(machine: Chooser) -> None:
    with pytest.raises(EnvironmentProblem) as caught:
        machine.choose("3.6.2")
    assert caught.value.code == "PythonNotFound"
    for word in ("python=3.6.2", "not installed", "uv has none", "no conda", "3.10.9"):
        assert word in caught.value.message
    for word in ("conda", "change the pin", "runyard config set environments.relax true"):
        assert word in caught.value.help


def test_a_python_that_is_too_old_is_named(machine: Chooser) -> None:
    with pytest.raises(EnvironmentProblem, match=r"/pythons/3.6.15 is older than Python 3.8"):
        machine.choose("3.6")


def test_no_network_is_the_reason_that_is_given(
    machine: Chooser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chooser = _chooser(tmp_path, "echo '  cause: client error'; echo '  cause: Name not known'; exit 1")
    with pytest.raises(EnvironmentProblem, match=r"uv cannot fetch it \(Name not known\)"):
        chooser.choose("3.12")


@pytest.mark.parametrize(
    ("wanted", "taken"), [("3.6.2", "3.8.1"), ("3.9", "3.10.9"), ("3.12", "3.13.1"), ("3.20", "3.13.1")]
)
def test_relaxed_the_nearest_is_taken_and_the_newer_of_two(machine: Chooser, wanted: str, taken: str) -> None:
    choice = machine.choose(wanted, relax=True)
    assert choice.interpreter.text == taken
    assert choice.changes[0].startswith(f"python={wanted} → {taken}: ")


def test_a_python_that_uv_can_fetch_is_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """uv is a stand-in: its Pythons come from a place that is not reachable everywhere."""
    managed = tmp_path / "managed"
    monkeypatch.setenv("UV_PYTHON_INSTALL_DIR", str(managed))
    python = managed / "cpython-3.99.1/bin/python3.99"
    chooser = _chooser(
        tmp_path,
        f"mkdir -p {python.parent}\nprintf '#!/bin/sh\\necho cpython 3.99.1 {python}\\n' > {python}\nchmod +x {python}",
    )
    choice = chooser.choose("3.99")
    assert (choice.interpreter.text, choice.interpreter.path) == ("3.99.1", str(python))
    assert (tmp_path / "asked").read_text().strip() == "python install --no-bin 3.99"


def test_the_running_python_is_taken_without_asking_any_other(tmp_path: Path) -> None:
    chooser = _chooser(tmp_path, "exit 1")
    assert chooser.choose(f"{sys.version_info[0]}.{sys.version_info[1]}").interpreter == interpreters.running()
    assert list(tmp_path.iterdir()) == [tmp_path / "uv"]
