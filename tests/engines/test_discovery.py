"""If these fail, a package that brings an engine is not found, or one that is broken takes others down with it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.engine_package import install, install_broken, install_example

from runyard.contracts.engines import BUILT_IN, EngineDescription
from runyard.engines import discovery
from runyard.engines.base import EngineError


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on the path of this process, whose modules are forgotten again."""
    folder = tmp_path / "site-packages"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    discovery.installed.cache_clear()
    yield folder
    discovery.installed.cache_clear()
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None) or "").startswith(str(folder)):
            del sys.modules[name]


def test_an_engine_of_a_package_is_found_by_its_name(packages: Path) -> None:
    install_example(packages)
    description = discovery.describe("processes")
    assert (description.name, description.target_type) == ("processes", "Processes")
    assert discovery.load(description).__name__ == "ProcessEngine"
    (found,) = discovery.scan()
    assert (found.package, found.problem) == ("runyard-processes 1.0", "")


def test_each_broken_package_is_a_problem_of_its_own_engine(packages: Path) -> None:
    install_broken(packages)
    install_example(packages)
    problems = {(found.name, found.package): found.problem for found in discovery.scan()}
    assert problems.pop(("processes", "runyard-processes 1.0")) == ""
    assert problems.pop(("hollow", "broken_hollow 1.0")) == "", "its class is loaded when it is needed"
    assert "No module named 'broken_missing'" in problems["missing", "broken_missing 1.0"]
    assert "ValueError: no licence" in problems["raising", "broken_raising 1.0"]
    assert "SystemExit: bye" in problems["leaving", "broken_leaving 1.0"]
    assert "no runyard.contracts.engines.EngineDescription" in problems["text", "broken_text 1.0"]
    assert problems["slurm", "broken_slurm 1.0"] == "the name is that of an engine of Runyard"
    assert "several packages" in problems["twice", "broken_first 1.0"]
    assert "several packages" in problems["twice", "broken_second 1.0"]
    assert discovery.describe("slurm") is BUILT_IN["slurm"]
    with pytest.raises(EngineError, match=r"'raising' of broken_raising 1.0 cannot be used: .*no licence"):
        discovery.describe("raising")
    with pytest.raises(EngineError, match=r"no engine 'pbs'. The engines are: local, ray, slurm, hollow, processes"):
        discovery.describe("pbs")
    with pytest.raises(EngineError, match="broken_hollow:nothing cannot be loaded"):
        discovery.load(discovery.describe("hollow"))


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"name": "Other"}, "has the name 'Other'"),
        ({"target_type": "My Engine"}, "is not made of letters alone"),
        ({"options": ("queue",)}, "one of its options is no"),
    ],
)
def test_a_description_that_could_not_be_used_is_refused(
    packages: Path, fields: dict[str, object], problem: str
) -> None:
    given = {"name": "pbs", "target_type": "Pbs", "implementation": "x:X", **fields}
    code = f"from runyard.contracts.engines import EngineDescription\nENGINE = EngineDescription(**{given!r})"
    install(packages, "pbs", "broken_form", code, "broken_form:ENGINE")
    (found,) = discovery.scan()
    assert problem in found.problem


def test_what_is_no_engine_is_not_loaded() -> None:
    with pytest.raises(EngineError, match="json:dumps is no class of"):
        discovery.load(EngineDescription("pbs", "Pbs", "json:dumps"))


def test_packages_are_not_scanned_for_an_engine_of_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise AssertionError("packages were scanned")

    monkeypatch.setattr(discovery, "installed", refuse)
    assert [discovery.describe(name) for name in BUILT_IN] == list(BUILT_IN.values())
