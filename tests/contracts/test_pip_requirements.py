"""Lines of requirements files as pip reads them: a package that is misread is one that is installed twice."""

from __future__ import annotations

import pytest

from runyard.contracts.pip_requirements import (
    Requirement,
    is_address,
    is_option,
    option,
    parse,
    same_package,
)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("torch", Requirement("torch", frozenset(), "", "")),
        (" torch >= 1.6 ", Requirement("torch", frozenset(), ">= 1.6", "")),
        ("torch (>=1.6)", Requirement("torch", frozenset(), ">=1.6", "")),
        ("ray[tune, rllib]==2.9", Requirement("ray", frozenset({"tune", "rllib"}), "==2.9", "")),
        ("a; python_version < '3.9'", Requirement("a", frozenset(), "", "python_version < '3.9'")),
        (
            "a @ https://h/a.whl?x;y ; sys_platform == 'linux'",
            Requirement("a", frozenset(), "@ https://h/a.whl?x;y", "sys_platform == 'linux'"),
        ),
        ("git+https://g/a.git", Requirement(None, frozenset(), "git+https://g/a.git", "")),
        ("./wheels/a.whl", Requirement(None, frozenset(), "./wheels/a.whl", "")),
        ("wheels/a.whl", Requirement(None, frozenset(), "wheels/a.whl", "")),
        ("--pre", Requirement(None, frozenset(), "--pre", "")),
    ],
)
def test_lines_in_their_parts(line: str, expected: Requirement) -> None:
    assert parse(line) == expected


def test_names_are_compared_as_pip_does() -> None:
    assert parse("Scikit_Learn>=1").key == "scikit-learn"
    assert same_package("scikit.learn==1", "SCIKIT-learn")
    assert not same_package("torch", "torchvision")
    assert parse("./a").key is None
    assert same_package("./a ", "./a")
    assert not same_package("./a", "./b")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("-rbase.txt", ("--requirement", "base.txt")),
        ("-e .", ("--editable", ".")),
        ("--find-links   wheels", ("--find-links", "wheels")),
        ("-x y", ("-x", "y")),
    ],
)
def test_options(line: str, expected: tuple[str, str]) -> None:
    assert is_option(line)
    assert not is_option(expected[1])
    assert option(line) == expected


def test_addresses() -> None:
    assert is_address(" https://h/a.whl")
    assert not is_address("C:/a.whl")
    assert not is_address("torch")
