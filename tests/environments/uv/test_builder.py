from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.wheels import wheel

from runyard.environments import command, tools
from runyard.environments.builder import Order
from runyard.environments.problem import EnvironmentProblem

pytestmark = pytest.mark.slow

if TYPE_CHECKING:
    from tests.environments.conftest import Index, Yard


def test_packages_of_pip_and_conda_come_from_the_configured_place(yard: Yard) -> None:
    wheel(yard.links, "solo", "1.5"), wheel(yard.links, "solo", "2.0"), wheel(yard.links, "other", requires=["third"])
    wheel(yard.links, "third")
    built = yard.build("other", "azureml-defaults", conda=("solo=1",))
    assert yard.installed() == {"solo-1.5", "other-1.0", "third-1.0"}
    assert built.interpreter == str(yard.folder / "bin/python")
    assert built.variables == {"VIRTUAL_ENV": str(yard.folder)}
    said = subprocess.run([built.interpreter, "-c", "import sys, solo; print(sys.prefix, solo.__version__)"], stdout=-1)
    assert said.stdout.decode().split() == [str(yard.folder), "1.5"]
    assert "Taken from PyPI instead of conda: solo=1" in yard.log
    assert any("+ solo==1.5" in line for line in yard.log)
    assert not any("\x1b" in line for line in yard.log)


def test_uv_is_called_twice_and_the_environment_is_all_that_is_left(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel(yard.links, "solo")
    calls: list[Sequence[str | os.PathLike[str]]] = []
    run = command.run

    def counted(argv: Sequence[str | os.PathLike[str]], *rest: Any, **named: Any) -> command.Finished:
        calls.append(argv)
        return run(argv, *rest, **named)

    monkeypatch.setattr(command, "run", counted)
    yard.build("solo")
    assert [call[1:3] for call in calls] == [["venv", "--quiet"], ["pip", "install"]]
    assert not list(yard.folder.glob(".requirements*"))


def test_bytecode_is_compiled_whatever_the_shell_says(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    wheel(yard.links, "solo")
    yard.build("solo")
    assert list(yard.folder.glob("lib/python*/site-packages/__pycache__/solo.*.pyc"))


def test_nothing_but_python_gives_a_bare_environment(yard: Yard) -> None:
    built = yard.build()
    assert yard.installed() == set()
    assert built.python == ".".join(map(str, sys.version_info[:3]))
    assert built.changes == []


def test_another_environment_of_the_shell_is_left_alone(
    yard: Yard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel(yard.links, "solo")
    for name in ("VIRTUAL_ENV", "UV_PYTHON", "UV_PROJECT_ENVIRONMENT", "PYTHONHOME"):
        monkeypatch.setenv(name, str(tmp_path / "elsewhere"))
    monkeypatch.setenv("UV_SYSTEM_PYTHON", "1")
    yard.build("solo")
    assert yard.installed() == {"solo-1.0"}


def test_hashes_are_checked(yard: Yard) -> None:
    file = wheel(yard.links, "solo")
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    yard.build(f"solo==1.0 --hash=sha256:{digest}")
    assert yard.installed() == {"solo-1.0"}


def test_a_private_wheel_is_installed(yard: Yard, tmp_path: Path) -> None:
    file = shutil.move(wheel(yard.links, "mine"), tmp_path / "kept-under-its-hash")
    wanted = yard.specification("runyard://wheels/00ff/mine-1.0-py3-none-any.whl")
    yard.make(Order(wanted, fetch=lambda address: Path(file)))
    assert yard.installed() == {"mine-1.0"}


def test_pip_is_there_where_a_conda_file_names_it(yard: Yard) -> None:
    """From the Python below, where that brings it; else it is not in this yard, which is no failure."""
    wheel(yard.links, "solo")
    yard.build("solo", conda=("pip",))
    assert "solo-1.0" in yard.installed()
    with_pip = (yard.folder / "bin/pip").exists()
    assert with_pip or "pip could not be installed; the packages are there all the same." in yard.log


def test_a_secret_reaches_the_index_and_nothing_else(yard: Yard, index: Index) -> None:
    wheel(yard.links, "solo")
    wanted = yard.specification(f"--index-url http://${{RUNYARD_SECRET_0ab1}}@{index.host}/simple", "solo")
    yard.make(Order(wanted, secrets={"RUNYARD_SECRET_0ab1": "me:pass%2Fword"}))
    assert yard.installed() == {"solo-1.0"}
    assert index.asked
    assert "pass" not in "\n".join(yard.log)
    assert not subprocess.run(["grep", "-r", "-l", "pass%2Fword", yard.root], stdout=-1).stdout


def test_credentials_of_pips_configuration_work_too(yard: Yard, index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel(yard.links, "solo")
    monkeypatch.setenv("PIP_INDEX_URL", f"http://me:pass%2Fword@{index.host}/simple")
    yard.build("solo")
    assert yard.installed() == {"solo-1.0"}


def test_an_index_that_refuses(yard: Yard, index: Index) -> None:
    wheel(yard.links, "solo")
    with pytest.raises(EnvironmentProblem, match=index.host) as caught:
        yard.build(f"--index-url http://{index.host}/simple", "solo")
    assert caught.value.code == "IndexRefused"


def test_a_build_that_is_given_up_ends_uv(yard: Yard) -> None:
    def give_up() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        yard.make(Order(yard.specification("solo"), check=give_up))


def test_no_uv(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "find", lambda name: None)
    with pytest.raises(EnvironmentProblem) as caught:
        yard.build("solo")
    assert caught.value.code == "UvNotFound"


@pytest.mark.skipif(os.environ.get("UV_OFFLINE") == "1", reason="needs the package index")
def test_a_package_of_the_real_index(tmp_path: Path) -> None:
    from tests.environments.conftest import Yard

    yard = Yard(tmp_path)
    yard.build("six==1.16.0")
    assert yard.installed() == {"six-1.16.0"}


def test_a_constraint_behind_a_signature_is_fetched_with_it(yard: Yard, index: Index) -> None:
    for version in ("1.0", "2.0"):
        wheel(yard.links, "solo", version)
    (yard.links / "pins.txt").write_text("solo<2\n")
    secret = "${RUNYARD_SECRET_0ab1}"
    wanted = yard.specification(
        f"--index-url http://{secret}@{index.host}/simple",
        f"--constraint http://{secret}@{index.host}/files/pins.txt",
        "solo",
    )
    yard.make(Order(wanted, secrets={"RUNYARD_SECRET_0ab1": "me:pass%2Fword"}))
    assert yard.installed() == {"solo-1.0"}
    assert any("pins.txt" in path for path in index.asked)
