"""conda's channels cannot be reached by the tests, so a program that answers like conda stands in for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from runyard.sdk.environment.environment import Environment

ANSWER = """#!/bin/sh
echo "$@" > "$0.called"
if [ "$4" = broken ]; then echo; echo "EnvironmentLocationNotFound: Not a conda environment: /x/broken" >&2; exit 1; fi
if [ "$4" = empty ]; then echo "name: empty"; exit 0; fi
if [ "$4" = odd ]; then echo "packages: [a]"; exit 0; fi
/bin/cat <<END
name: $4
channels: [conda-forge]
dependencies: [python=3.10.4, numpy=1.26.4, {pip: [torch==2.1.0]}]
prefix: /opt/conda/envs/$4
END
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The one folder on the PATH: no other conda is in reach."""
    place = tmp_path / "bin"
    place.mkdir()
    monkeypatch.setenv("PATH", str(place))
    for variable in ("CONDA_EXE", "MAMBA_EXE"):
        monkeypatch.delenv(variable, raising=False)
    return place


def stand_in(folder: Path, name: str) -> Path:
    program = folder / name
    program.write_text(ANSWER)
    program.chmod(0o755)
    return program


@pytest.mark.parametrize(("tool", "option"), [("conda", "--no-builds"), ("micromamba", "--no-build")])
def test_an_environment_is_taken_over_from_a_stand_in_for_conda(folder: Path, tool: str, option: str) -> None:
    program = stand_in(folder, tool)
    environment = Environment.from_existing_conda_environment("mine", "theirs")
    assert environment is not None
    assert environment.name == "mine"
    assert environment.python.conda_dependencies.as_dict() == {
        "channels": ["conda-forge"],
        "dependencies": ["python=3.10.4", "numpy=1.26.4", {"pip": ["torch==2.1.0"]}],
    }
    assert Path(f"{program}.called").read_text().split() == ["env", "export", "--name", "theirs", option]


def test_a_shells_own_conda_is_found_with_a_stand_in(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONDA_EXE", str(stand_in(tmp_path, "conda")))
    assert Environment.from_existing_conda_environment("mine", "theirs") is not None


@pytest.mark.parametrize(
    ("name", "message"),
    [("broken", "Not a conda environment: /x/broken"), ("empty", "no packages"), ("odd", "it has packages")],
)
def test_a_refusal_of_a_stand_in_is_told(folder: Path, name: str, message: str) -> None:
    stand_in(folder, "conda")
    with pytest.warns(UserWarning, match=f"{name}.*{message}") as seen:
        assert Environment.from_existing_conda_environment("mine", name) is None
    assert seen.pop(UserWarning).filename == __file__


@pytest.mark.usefixtures("folder")
def test_no_conda_at_all_is_told() -> None:
    with pytest.warns(UserWarning, match="none of conda, mamba, micromamba is on the PATH"):
        assert Environment.from_existing_conda_environment("mine", "theirs") is None
