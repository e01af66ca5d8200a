"""What a package asks for: the packages of its environment, as pip and a Dockerfile take them."""

from __future__ import annotations

import sys

import pytest

from runyard.contracts.environment import Specification
from runyard.sdk.model.package_folder import dockerfile, requirements


@pytest.mark.parametrize(
    ("conda", "wanted"),
    [
        ("numpy=1.26", "numpy==1.26.*"),
        ("numpy=1.26.4", "numpy==1.26.4"),
        ("numpy=1.26.4=py38_0", "numpy==1.26.4"),
        ("scipy>=1.5", "scipy>=1.5"),
        ("conda-forge::scipy", "scipy"),
    ],
)
def test_packages_of_conda_are_asked_of_pip(conda: str, wanted: str) -> None:
    assert requirements(Specification(conda=(conda, "pip"), pip=("onnx",))) == [wanted, "onnx"]


def test_options_come_first() -> None:
    assert requirements(Specification(options=("--pre",), pip=("onnx",))) == ["--pre", "onnx"]


def test_the_image_begins_with_what_the_environment_asks_for() -> None:
    this = f"FROM python:{sys.version_info[0]}.{sys.version_info[1]}-slim"
    assert dockerfile(Specification()).startswith(this)
    assert dockerfile(Specification(python="3.9.1", pip=("x",))).startswith("FROM python:3.9-slim")
    assert dockerfile(Specification(python="3.8.13", pip=("x",))).startswith(this)  # SDK v1's default is no wish
    assert dockerfile(Specification(image="somebody/image:1")).startswith("FROM somebody/image:1\n")
    assert dockerfile(Specification(dockerfile="FROM x\nRUN true\n")).startswith("FROM x\nRUN true\nWORKDIR")
    assert 'CMD ["python", "serve.py"' in dockerfile(Specification())
