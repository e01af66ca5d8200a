"""conda's channels are not in reach of every test machine: micromamba is a stand-in here, which makes a bare Python."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.support.wheels import wheel

from runyard.environments import tools
from runyard.environments.builder import Order
from runyard.environments.problem import EnvironmentProblem
from runyard.environments.python import interpreters

if TYPE_CHECKING:
    from tests.environments.conftest import Yard


class StandIn:
    """An executable named micromamba that writes down what it was asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self.behave(f'exec {sys.executable} -m venv --without-pip "$4"')

    def behave(self, script: str) -> None:
        file = self.folder / "micromamba"
        kept = 'for last; do :; done; cp "$last" "$(dirname "$0")/packages"; echo "$@" > "$(dirname "$0")/asked"'
        file.write_text(f"#!/bin/sh\n{kept}\necho solving\n{script}\n")
        file.chmod(0o755)

    @property
    def asked(self) -> list[str]:
        return (self.folder / "asked").read_text().split()

    @property
    def packages(self) -> list[str]:
        return (self.folder / "packages").read_text().splitlines()


@pytest.fixture
def micromamba(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> StandIn:
    made = StandIn(yard.root / "tools")
    monkeypatch.setattr(tools, "CONDA_TOOLS", ("micromamba",))
    monkeypatch.setenv("PATH", str(made.folder), prepend=":")
    return made


def test_a_stand_in_for_micromamba_makes_the_conda_part_and_uv_the_pip_part(yard: Yard, micromamba: StandIn) -> None:
    wheel(yard.links, "solo")
    wanted = yard.specification("solo", conda=("cudatoolkit=10.1", "numpy 1.18"), python="3.6.2", channels=("pytorch",))
    built = yard.make(Order(wanted))
    assert micromamba.asked[:4] == ["create", "--yes", "--prefix", str(yard.folder)]
    assert " ".join(micromamba.asked[4:7]) == "--override-channels --channel pytorch"
    assert micromamba.packages == ["python=3.6.2", "cudatoolkit=10.1", "numpy=1.18"]
    assert yard.installed() == {"solo-1.0"}
    assert built.python == interpreters.running().text
    assert built.variables["CONDA_PREFIX"] == str(yard.folder)
    assert "solving" in yard.log


def test_a_stand_in_for_micromamba_gets_what_uv_does_not_find(yard: Yard, micromamba: StandIn) -> None:
    yard.build(conda=("some-library=3",))
    assert "some-library=3" in micromamba.packages


def test_a_stand_in_for_micromamba_gets_a_python_that_uv_cannot_have(
    yard: Yard, micromamba: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UV_PYTHON_DOWNLOADS", "never")
    assert yard.build(python="3.6.2", relax=True).changes == []
    assert micromamba.packages == ["python=3.6.2"]


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("nothing provides requested ghost 1.0", "PackageNotFound"),
        ("error: Could not solve for environment specs", "DependencyConflict"),
        ("critical: Download error (6) Could not resolve host: conda.anaconda.org", "IndexUnreachable"),
        ("OSError: No space left on device", "DiskFull"),
        ("it fell over", "CondaFailed"),
    ],
)
def test_a_stand_in_for_micromamba_fails(yard: Yard, micromamba: StandIn, words: str, code: str) -> None:
    micromamba.behave(f"echo '{words}'; exit 3")
    with pytest.raises(EnvironmentProblem, match="micromamba could not make the environment") as caught:
        yard.build(conda=("cudatoolkit",))
    assert caught.value.code == code
    assert words in caught.value.message
    assert caught.value.help


def test_a_stand_in_for_micromamba_makes_nothing(yard: Yard, micromamba: StandIn) -> None:
    micromamba.behave('mkdir "$4"')
    with pytest.raises(EnvironmentProblem, match="without a Python") as caught:
        yard.build(conda=("cudatoolkit",))
    assert caught.value.code == "CondaFailed"


def test_without_conda_the_packages_and_channels_that_need_it_are_named(yard: Yard) -> None:
    wanted = yard.specification("solo", conda=("cudatoolkit=10.1", "numpy"), channels=("conda-forge", "pytorch"))
    with pytest.raises(EnvironmentProblem) as caught:
        yard.make(Order(wanted))
    assert caught.value.code == "CondaNeeded"
    assert "cudatoolkit=10.1, channel pytorch" in caught.value.message
    assert "numpy" not in caught.value.message
    for way in ("Install micromamba", "pip section", "runyard config set environments.relax true"):
        assert way in caught.value.help


def test_a_stand_in_for_micromamba_is_shown_the_token_of_a_channel_and_nothing_keeps_it(
    yard: Yard, micromamba: StandIn
) -> None:
    made = f'{sys.executable} -m venv --without-pip "$4" && mkdir "$4/conda-meta"'
    micromamba.behave(f'{made} && echo "# cmd: $0 $@" > "$4/conda-meta/history"')
    channel = "https://host/t/${RUNYARD_SECRET_0ab1}/mine"
    wanted = yard.specification(conda=(f"{channel}::some-library",), channels=(channel,))
    yard.make(Order(wanted, secrets={"RUNYARD_SECRET_0ab1": "tk-12345"}))
    assert "https://host/t/tk-12345/mine" in micromamba.asked
    assert "https://host/t/tk-12345/mine::some-library" in micromamba.packages
    history = (yard.folder / "conda-meta" / "history").read_text()
    assert "https://host/t/***/mine" in history
    assert "tk-12345" not in history
