"""The script that installs packages into an image. `test_image.py` runs such scripts in an engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from runyard.contracts.environment import Specification
from runyard.environments.builder import Order
from runyard.environments.containers.handover import Handover
from runyard.environments.containers.inside import Inside
from runyard.environments.containers.layers import VENV, Work, _as_before, _check_python, _script
from runyard.environments.problem import EnvironmentProblem

PLAIN = Inside("/usr/bin/python3", "3.11.2", pip=True)
CONDA = Inside("/opt/conda/bin/python", "3.11.2", pip=True, conda="/opt/conda/bin/micromamba")


@pytest.fixture(autouse=True)
def no_pip_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")


def work(folder: Path, inside: Inside = PLAIN, relax: bool = False, **specification: Any) -> Work:
    order = Order(Specification(image="base:1", **specification), relax, report=lambda line: None)
    return Work(order, "base:1", inside, Handover(folder / "handover"))


def test_nothing_to_install_makes_no_script(tmp_path: Path) -> None:
    assert _script(work(tmp_path)) == ""


def test_packages_go_into_the_python_of_the_image(tmp_path: Path) -> None:
    script = _script(work(tmp_path, pip=("numpy==1.26.4",), options=("--pre",)))
    assert script.endswith("/usr/bin/python3 -m pip install -r /mnt/requirements.txt\n")
    assert (tmp_path / "handover" / "requirements.txt").read_text() == "--pre\nnumpy==1.26.4\n"


def test_a_python_without_pip_gets_a_virtual_environment(tmp_path: Path) -> None:
    script = _script(work(tmp_path, Inside("/usr/bin/python3", "3.11.2"), pip=("numpy",)))
    assert f"/usr/bin/python3 -m venv --system-site-packages {VENV}\n{VENV}/bin/python -m pip install" in script


def test_the_conda_of_the_image_installs_its_packages_and_the_python(tmp_path: Path) -> None:
    script = _script(work(tmp_path, CONDA, python="3.9", conda=("scipy=1.10",), pip=("tqdm",)))
    conda, pip = script.index("micromamba install"), script.index("pip install")
    assert conda < pip
    assert "--channel conda-forge scipy=1.10 python=3.9\n" in script


def test_without_conda_its_packages_come_from_pypi_or_are_refused(tmp_path: Path) -> None:
    _script(work(tmp_path, conda=("scipy=1.10.1",)))
    assert "scipy" in (tmp_path / "handover" / "requirements.txt").read_text()
    with pytest.raises(EnvironmentProblem) as refused:
        _script(work(tmp_path, conda=("cudatoolkit=11.3",)))
    assert refused.value.code == "CondaNotInImage"


@pytest.mark.parametrize(
    ("inside", "python", "code"),
    [
        (PLAIN, "", ""),
        (PLAIN, "3.11", ""),
        (CONDA, "3.8", ""),
        (PLAIN, "3.8", "PythonNotInImage"),
        (Inside(), "", "PythonMissingInImage"),
    ],
)
def test_the_python_of_the_image_must_be_the_one_that_is_wanted(
    tmp_path: Path, inside: Inside, python: str, code: str
) -> None:
    wanted = work(tmp_path, inside, python=python)
    if not code:
        _check_python(wanted)
        return
    with pytest.raises(EnvironmentProblem) as refused:
        _check_python(wanted)
    assert refused.value.code == code


def test_a_workspace_that_relaxes_takes_the_python_that_is_there(tmp_path: Path) -> None:
    wanted = work(tmp_path, relax=True, python="3.8")
    _check_python(wanted)
    assert wanted.changes == ["python=3.8: Python 3.11.2, which the image has"]


def test_the_image_keeps_how_it_starts() -> None:
    config = {"Cmd": ["serve"], "Entrypoint": ["/init"], "User": "app", "WorkingDir": "/srv", "Env": ["PATH=/bin"]}
    assert _as_before(config, venv=True) == [
        'CMD ["serve"]', 'ENTRYPOINT ["/init"]', "USER app", "WORKDIR /srv", f"ENV PATH={VENV}/bin:/bin",
    ]  # fmt: skip
    assert _as_before({}, venv=False) == ['CMD ["/bin/sh"]', "WORKDIR /"]
