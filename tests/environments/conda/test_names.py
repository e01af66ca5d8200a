from __future__ import annotations

import pytest

from runyard.contracts.environment import Specification
from runyard.environments.conda import names


@pytest.mark.parametrize(
    ("conda", "pypi"),
    [
        ("numpy", "numpy"),
        ("numpy=1.18", "numpy==1.18.*"),
        ("numpy=1.18.*", "numpy==1.18.*"),
        ("numpy==1.18.5", "numpy==1.18.5"),
        ("numpy 1.18.5", "numpy==1.18.5.*"),
        ("numpy=1.18.5=py38h95a1406_0", "numpy==1.18.5"),
        ("numpy>=1.18,<2", "numpy>=1.18,<2"),
        ("conda-forge::Scikit-Learn>=1", "scikit-learn>=1"),
    ],
)
def test_a_conda_package_in_the_words_of_a_requirements_file(conda: str, pypi: str) -> None:
    assert names.requirement(conda) == pypi


def test_uv_can_build_python_pip_and_packages_that_pypi_has() -> None:
    plain = Specification(python="3.8", conda=("pip=20.1", "numpy=1.18", "scipy>=1,<2"), channels=("conda-forge",))
    assert names.needs_conda(plain) == []


def test_what_only_conda_has_is_named() -> None:
    given = Specification(
        conda=("numpy", "cudatoolkit=10.1", "nvidia::pandas", "scipy=1.4|1.5"), channels=("conda-forge", "pytorch")
    )
    assert names.needs_conda(given) == ["cudatoolkit=10.1", "nvidia::pandas", "scipy=1.4|1.5", "channel pytorch"]


def test_pip_itself_is_not_asked_of_pypi() -> None:
    assert names.requirements(Specification(conda=("pip", "six=1.15"))) == {"six=1.15": "six==1.15.*"}
