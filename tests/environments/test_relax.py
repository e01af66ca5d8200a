from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.environments.conftest import MINOR
from tests.support.wheels import source, wheel

from runyard.environments.problem import EnvironmentProblem

pytestmark = pytest.mark.slow

if TYPE_CHECKING:
    from tests.environments.conftest import Yard

OLD = "cp36-cp36m-manylinux1_x86_64"


def test_nothing_is_changed_that_can_be_had(yard: Yard) -> None:
    wheel(yard.links, "solo", "1.0"), wheel(yard.links, "solo", "2.0")
    assert yard.build("solo==1.0", relax=True).changes == []
    assert yard.installed() == {"solo-1.0"}


def test_a_pin_becomes_the_nearest_version_above(yard: Yard) -> None:
    wheel(yard.links, "solo", "1.6.0", tag=OLD), wheel(yard.links, "kept", "1.0"), wheel(yard.links, "kept", "2.0")
    for version in ("1.0", "2.1.0", "3.0"):
        wheel(yard.links, "solo", version)
    built = yard.build("solo==1.6.0", "kept==1.0", relax=True)
    assert built.changes == [f"solo==1.6.0 → 2.1.0: not for Python {MINOR}"]
    assert yard.installed() == {"solo-2.1.0", "kept-1.0"}
    assert f"Relaxed: solo==1.6.0 → 2.1.0: not for Python {MINOR}" in yard.log


def test_where_there_is_none_above_the_nearest_below_is_taken(yard: Yard) -> None:
    for version in ("1.0", "1.5"):
        wheel(yard.links, "solo", version)
    assert yard.build("solo==9.0", relax=True).changes == ["solo==9.0 → 1.5: there is no such version"]


def test_a_line_of_the_conda_part_is_relaxed_too(yard: Yard) -> None:
    wheel(yard.links, "solo", "2.0.1")
    assert yard.build(conda=("solo=1.18",), relax=True).changes == ["solo=1.18 → 2.0.1: there is no such version"]


def test_a_source_that_does_not_build_gives_way_to_a_wheel(yard: Yard) -> None:
    source(yard.links, "solo", "1.0"), source(yard.links, "solo", "1.1"), wheel(yard.links, "solo", "1.2")
    assert yard.build("solo==1.0", relax=True).changes == [f"solo==1.0 → 1.2: does not build on Python {MINOR}"]


def test_of_two_that_clash_one_is_loosened_as_little_as_possible(yard: Yard) -> None:
    wheel(yard.links, "left", "1.0", requires=["base>=2"])
    for version in ("1.0", "2.0", "3.0"):
        wheel(yard.links, "base", version)
    built = yard.build("left==1.0", "base==1.0", relax=True)
    assert built.changes == ["base==1.0 → 2.0: clashes with left==1.0"]
    assert yard.installed() == {"left-1.0", "base-2.0"}


def test_what_clashes_again_is_loosened_further(yard: Yard) -> None:
    wheel(yard.links, "left", "1.0", requires=["base<2"]), wheel(yard.links, "right", "1.0", requires=["base<2"])
    wheel(yard.links, "base", "1.0"), wheel(yard.links, "base", "4.0")
    built = yard.build("left==1.0", "right==1.0", "base==3.0", relax=True)
    assert yard.installed() == {"left-1.0", "right-1.0", "base-1.0"}
    assert len(built.changes) == 1
    assert built.changes[0].startswith("base==3.0 → 1.0: ")


def test_a_package_that_has_another_name_now(yard: Yard) -> None:
    wheel(yard.links, "tensorflow", "2.12.0")
    built = yard.build("tensorflow-gpu==2.2.0", relax=True)
    assert built.changes == ["tensorflow-gpu==2.2.0 → tensorflow==2.12.0: tensorflow-gpu is called tensorflow on PyPI"]


def test_packages_that_only_conda_has_are_taken_from_pypi_or_left_out(yard: Yard) -> None:
    wheel(yard.links, "torch", "1.6.0")
    built = yard.build(conda=("pytorch=1.6", "cudatoolkit=10.1"), relax=True)
    assert built.changes == [
        "pytorch=1.6 → torch==1.6.0: pytorch is called torch on PyPI",
        "cudatoolkit=10.1 → left out: the wheels of PyPI bring it",
    ]


def test_what_does_not_exist_at_all_is_still_refused(yard: Yard) -> None:
    wheel(yard.links, "solo")
    with pytest.raises(EnvironmentProblem, match="'ghost'") as caught:
        yard.build("solo==7.0", "ghost==1.0", relax=True)
    assert caught.value.code == "PackageNotFound"


def test_a_python_that_cannot_be_had_is_the_first_change(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UV_PYTHON_DOWNLOADS", "never")
    wheel(yard.links, "solo")
    built = yard.build("solo", python="3.6.2", relax=True)
    assert built.changes[0].startswith(f"python=3.6.2 → {built.python}: ")
    assert yard.installed() == {"solo-1.0"}
