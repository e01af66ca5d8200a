"""The reference that `make api` builds shows all that users import, and no docstring names what is not there."""

from __future__ import annotations

import ast
import importlib
import re
import warnings
from pathlib import Path

import pytest
from tests.support.reference import SOURCE, build, module_name, modules

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parent.parent

NAME = re.compile(r"`((?:runyard|azureml)(?:\.\w+)+)`")
PATH = re.compile(r"`(?:(?:src/)?runyard/)?([a-z]+/(?:\w+/)*\w+\.py)`")
"""A module named by its path below src/runyard, as docs/design.md does."""


def exported(path: Path) -> list[str]:
    """The names in `__all__`, without loading the module."""
    for each in ast.parse(path.read_text("utf-8")).body:
        if isinstance(each, ast.Assign) and ast.unparse(each.targets[0]) == "__all__":
            names: list[str] = ast.literal_eval(each.value)
            return names
    return []


def exists(name: str) -> bool:
    """Whether a dotted name is a module, or something in one."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        try:
            found: object = importlib.import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        for part in parts[end:]:
            if not hasattr(found, part):
                return False
            found = getattr(found, part)
        return True
    return False


def test_the_reference_shows_every_name_that_users_import(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # pdoc's way to say that a name or a type is not there
        build(tmp_path)
    for name, path in modules().items():
        page = (tmp_path / f"{name.replace('.', '/')}.html").read_text("utf-8")
        public = [each for each in exported(path) if not each.startswith("_")]
        missing = [each for each in public if f'id="{each}"' not in page]
        assert not missing, f"the page of {name} does not show {missing}"


FOR_FRAMEWORKS = SOURCE / "runyard" / "compat" / "horovod"
"""What is below it imports frameworks that are not here; its names are looked at by the ranks of tests/compat."""


@pytest.mark.parametrize("package", ["runyard", "azureml"])
def test_every_exported_name_exists(package: str) -> None:
    missing = [
        f"{module_name(path)}.{name}"
        for path in sorted((SOURCE / package).rglob("*.py"))
        if FOR_FRAMEWORKS not in path.parents
        for name in exported(path)
        if not exists(f"{module_name(path)}.{name}")
    ]
    assert not missing


def test_docstrings_and_comments_name_what_exists() -> None:
    constants = re.compile(r"^azureml\.scriptrun$")  # a type of runs, which looks like a module
    missing = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in sorted(SOURCE.rglob("*.py"))
        for name in sorted(set(NAME.findall(path.read_text("utf-8"))))
        if not constants.match(name) and not exists(name)
    ]
    assert not missing


def test_documents_name_modules_that_exist() -> None:
    missing = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in (*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"))
        for name in PATH.findall(path.read_text("utf-8"))
        if not any((base / name).is_file() for base in (SOURCE / "runyard", SOURCE, ROOT))
    ]
    assert not missing


@pytest.mark.parametrize("package", ["runyard", "azureml"])
def test_type_checkers_use_the_types(package: str) -> None:
    assert (SOURCE / package / "py.typed").is_file()
