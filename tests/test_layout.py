"""The layout that the documents show is the real one, and stays small enough to find things in."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "runyard"
TESTS = ROOT / "tests"

MOST_MODULES = 20
"""In one folder, without its `__init__`: more cannot be taken in at a glance."""

TESTED = 1.0
"""At least this part of the modules has a test file of its name in the mirrored folder. To be raised, never lowered."""

BESIDE_THE_MIRROR = {"attacks", "azureml", "benchmarks", "examples", "journeys", "support"}
"""Folders of tests that stand for no package."""


def packages() -> list[Path]:
    return sorted(path.parent for path in SOURCE.rglob("__init__.py") if path.parent != SOURCE)


def modules(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("*.py") if path.name != "__init__.py")


def section(document: str, heading: str) -> str:
    text = (ROOT / document).read_text("utf-8")
    return text.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]


@pytest.mark.parametrize(
    ("document", "heading", "top"),
    [("CONTRIBUTING.md", "Where things are", "src/runyard/{}/"), ("docs/design.md", "The layers", "`runyard/{}/`")],
)
def test_every_package_is_on_the_map(document: str, heading: str, top: str) -> None:
    """Each folder of the first level, and below its line, before the next one, each folder within it."""
    named = section(document, heading)
    missing = []
    for package in packages():
        first, *inner = package.relative_to(SOURCE).parts
        _, found, below = named.partition(top.format(first))
        lines = re.split(r"src/runyard/|\n\| `runyard/", below)[0]
        if not found or (inner and not re.search(rf"\b{inner[-1]}(/|`)", lines)):
            missing.append("/".join((first, *inner)))
    assert not missing, f"{document} does not show {missing} under {heading!r}"


@pytest.mark.parametrize(
    ("document", "heading", "pattern"),
    [
        ("CONTRIBUTING.md", "Where things are", r"src/(\w+(?:/\w+)*)/"),
        ("docs/design.md", "The layers", r"^\| `(\w+(?:/\w+)*)/`"),
    ],
)
def test_the_map_names_no_folder_that_is_gone(document: str, heading: str, pattern: str) -> None:
    named = re.findall(pattern, section(document, heading), re.MULTILINE)
    assert len(named) > 10
    assert not [name for name in named if not (ROOT / "src" / name).is_dir()]


def test_the_files_that_a_newcomer_is_sent_to_exist() -> None:
    table = section("CONTRIBUTING.md", "Where things are").partition("### Where do I change ...")[2]
    named = re.findall(r"`([\w./]+/[\w./]*)`", table)
    assert len(named) > 20
    for name in named:
        places = (SOURCE / name, ROOT / name)
        assert any(place.exists() for place in places), f"CONTRIBUTING.md sends people to {name}"


@pytest.mark.parametrize("package", packages(), ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_folder_can_be_taken_in_at_a_glance(package: Path) -> None:
    found = modules(package)
    assert len(found) <= MOST_MODULES, f"{package.relative_to(ROOT)} has {len(found)} modules: split it by subject"


def test_folders_of_tests_mirror_those_of_the_source() -> None:
    for folder in sorted(path for path in TESTS.rglob("*") if path.is_dir() and any(path.glob("test_*.py"))):
        below = folder.relative_to(TESTS)
        if below.parts[0] not in BESIDE_THE_MIRROR:
            assert (SOURCE / below / "__init__.py").is_file(), (
                f"{folder} tests no package: there is no {SOURCE / below}"
            )


def test_modules_have_test_files_of_their_name() -> None:
    tested, without = 0, []
    for package in packages():
        for module in modules(package):
            if not has_logic(module):
                continue
            below = module.relative_to(SOURCE)
            if (TESTS / below.parent / f"test_{module.stem}.py").is_file():
                tested += 1
            else:
                without.append(str(below))
    ratio = tested / (tested + len(without))
    listed = "\n  ".join(without)
    assert ratio >= TESTED, f"only {ratio:.1%} of the modules have a test file of their name; without one:\n  {listed}"


def has_logic(module: Path) -> bool:
    """Whether there is something to test: a function with more than one statement. Migrations have a test of all."""
    if "migrations" in module.parts or module.stem == "__main__":
        return False
    tree = ast.parse(module.read_text("utf-8"))
    functions = [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    return any(len([line for line in node.body if not isinstance(line, ast.Expr)]) > 1 for node in functions)
