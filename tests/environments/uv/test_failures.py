"""Each failure is made to happen with the real uv, except a full disk, for which its words are given."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.support.wheels import source, wheel

from runyard.contracts.environment import Specification
from runyard.environments.problem import EnvironmentProblem
from runyard.environments.uv.failures import explain

pytestmark = pytest.mark.slow

if TYPE_CHECKING:
    from tests.environments.conftest import Yard

RELAX = "runyard config set environments.relax true"


def _refused(yard: Yard, *pip: str, conda: tuple[str, ...] = ()) -> EnvironmentProblem:
    with pytest.raises(EnvironmentProblem) as caught:
        yard.build(*pip, conda=conda)
    assert caught.value.help
    return caught.value


def test_a_package_that_does_not_exist(yard: Yard) -> None:
    wheel(yard.links, "solo")
    problem = _refused(yard, "solo", "ghost==1.0")
    assert problem.code == "PackageNotFound"
    assert "'ghost'" in problem.message
    assert "spelling" in problem.help


def test_a_package_that_another_needs_and_that_does_not_exist(yard: Yard) -> None:
    wheel(yard.links, "needy", requires=["ghost>=1"])
    problem = _refused(yard, "needy==1.0")
    assert problem.code == "PackageNotFound"
    assert "'ghost', which 'needy==1.0' needs" in problem.message


def test_a_package_of_the_conda_part_that_pypi_does_not_have_needs_conda(yard: Yard) -> None:
    problem = _refused(yard, conda=("some-library=3",))
    assert problem.code == "CondaNeeded"
    assert "some-library=3" in problem.message
    assert "Install micromamba or conda" in problem.help


def test_a_version_that_does_not_exist(yard: Yard) -> None:
    wheel(yard.links, "solo")
    problem = _refused(yard, "solo==3.0")
    assert problem.code == "VersionNotFound"
    assert problem.message.startswith("'solo==3.0' cannot be had")
    assert RELAX in problem.help


def test_a_version_with_no_wheel_for_this_python(yard: Yard) -> None:
    wheel(yard.links, "solo", tag="cp36-cp36m-manylinux1_x86_64")
    problem = _refused(yard, conda=("solo=1.0",))
    assert problem.code == "VersionNotFound"
    assert "'solo=1.0'" in problem.message
    assert "cp36m" in problem.message


def test_two_lines_that_clash_are_both_shown(yard: Yard) -> None:
    wheel(yard.links, "left", requires=["base<2"]), wheel(yard.links, "right", requires=["base>=2"])
    wheel(yard.links, "base", "1.0"), wheel(yard.links, "base", "2.0"), wheel(yard.links, "solo")
    problem = _refused(yard, "solo", "left==1.0", conda=("right=1.0",))
    assert problem.code == "DependencyConflict"
    shown = [line.strip() for line in problem.message.splitlines() if line.startswith("    ")]
    assert sorted(shown) == ["left==1.0", "right=1.0"]
    assert "base" in problem.message
    assert RELAX in problem.help


def test_a_pin_that_another_package_excludes(yard: Yard) -> None:
    wheel(yard.links, "left", requires=["base<2"]), wheel(yard.links, "base", "1.0"), wheel(yard.links, "base", "2.0")
    problem = _refused(yard, "left", "base==2.0")
    assert problem.code == "DependencyConflict"
    assert "    left\n" in problem.message
    assert "    base==2.0\n" in problem.message


def test_one_package_asked_for_twice(yard: Yard) -> None:
    wheel(yard.links, "base", "1.0"), wheel(yard.links, "base", "2.0")
    problem = _refused(yard, "base==1.0", conda=("base==2.0",))
    assert problem.code == "DependencyConflict"
    assert "    base==1.0\n" in problem.message
    assert "    base==2.0\n" in problem.message


def test_a_file_that_was_replaced(yard: Yard) -> None:
    wheel(yard.links, "solo")
    problem = _refused(yard, f"solo==1.0 --hash=sha256:{'0' * 64}")
    assert problem.code == "HashMismatch"
    assert "solo==1.0" in problem.message


def test_no_network(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    problem = _refused(yard, "solo")
    assert problem.code == "IndexUnreachable"
    assert "http://127.0.0.1:9/simple" in problem.message


def test_a_source_that_does_not_build(yard: Yard) -> None:
    source(yard.links, "broken")
    problem = _refused(yard, "broken")
    assert problem.code == "BuildFailed"
    assert "broken==1.0" in problem.message
    assert "the compiler is missing: fortran" in problem.message


def test_a_line_that_is_no_requirement(yard: Yard) -> None:
    problem = _refused(yard, "solo = = 1")
    assert problem.code == "RequirementInvalid"
    assert "solo = = 1" in problem.message


def test_the_words_of_a_full_disk() -> None:
    output = "error: Failed to install: solo-1.0\n  cause: No space left on device (os error 28)"
    problem = explain(output, Specification(pip=("solo",)))
    assert problem.code == "DiskFull"
    assert "runyard env gc" in problem.help


def test_what_nobody_has_seen_yet_is_shown_as_it_is() -> None:
    problem = explain("error: the moon is full", Specification(pip=("solo",)))
    assert problem.code == "InstallFailed"
    assert "the moon is full" in problem.message
