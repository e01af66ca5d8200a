from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest
import typer

from runyard.cli import errors
from runyard.cli.environment_choice import Choice, name_and_version

if TYPE_CHECKING:
    from runyard.sdk.workspace.workspace import Workspace

NO_WORKSPACE = cast("Workspace", None)
"""What is made of a file or an image asks no workspace."""


def test_one_choice_is_made_at_most(tmp_path: Path) -> None:
    file = tmp_path / "requirements.txt"
    file.touch()
    assert not Choice().made
    assert Choice(pip=file).made
    Choice(pip=file).check(python=None)
    with pytest.raises(typer.BadParameter) as refused:
        Choice(environment="mine", image="python:3.11").check()
    assert refused.value.param_hint == "--environment and --image"
    with pytest.raises(typer.BadParameter) as refused:
        Choice(pip=file).check(python="/usr/bin/python3")
    assert refused.value.param_hint == "--python and --pip"


def test_a_file_that_is_not_there_is_named_with_its_option(tmp_path: Path) -> None:
    for choice, option in ((Choice(conda=tmp_path / "a.yml"), "--conda"), (Choice(pip=tmp_path), "--pip")):
        with pytest.raises(errors.CommandError, match=option) as refused:
            choice.check()
        assert (refused.value.exit_code, refused.value.code) == (errors.USAGE, "file_not_found")


@pytest.mark.parametrize(
    ("file", "text", "name"),
    [
        ("cats/environment.yml", "name: my env\ndependencies: [python=3.11]\n", "my-env"),
        ("cats/environment.yml", "name: project_environment\ndependencies: [python=3.11]\n", "cats"),
        ("cats/gpu.yml", "dependencies: [python=3.11]\n", "cats-gpu"),
        ("AzureML/env.yml", "name: AzureML-Mine\ndependencies: [python=3.11]\n", "my-AzureML-Mine"),
    ],
)
def test_an_environment_is_called_as_its_file_says_or_after_the_file(
    tmp_path: Path, file: str, text: str, name: str
) -> None:
    path = tmp_path / file
    path.parent.mkdir()
    path.write_text(text)
    assert Choice(conda=path).get(NO_WORKSPACE).name == name
    assert Choice(conda=path).get(NO_WORKSPACE, "given").name == "given"


def test_what_is_odd_in_a_requirements_file_is_noted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "requirements.txt"
    file.write_text("numpy==1.26.4\n")
    made = Choice(pip=file).get(NO_WORKSPACE, "mine")
    assert list(made.python.conda_dependencies.pip_packages) == ["numpy==1.26.4"]
    assert capsys.readouterr().out == "", "notes are for standard error"


def test_an_image() -> None:
    made = Choice(image="registry.example/team/train:2").get(NO_WORKSPACE)
    assert (made.name, made.docker.base_image) == ("train-2", "registry.example/team/train:2")


@pytest.mark.parametrize(
    ("text", "parts"),
    [("mine", ("mine", None)), ("mine:2", ("mine", "2")), ("a:b:3", ("a:b", "3")), ("mine:", ("mine:", None))],
)
def test_a_version_follows_a_colon(text: str, parts: tuple[str, str | None]) -> None:
    assert name_and_version(text) == parts
