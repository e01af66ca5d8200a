"""A key that changes for nothing builds for nothing; one that stays when it should change runs the wrong packages."""

from __future__ import annotations

from typing import Any

import pytest

from azureml.core import Environment
from azureml.core.environment import DEFAULT_CPU_IMAGE, CondaDependencies
from runyard.contracts import environment as contract
from runyard.contracts.environment import CONTAINER, CURRENT, PACKAGES, Specification, specification_of


def specified(*dependencies: Any, channels: tuple[str, ...] = ("conda-forge",), **docker: Any) -> Specification:
    packages = {"channels": list(channels), "dependencies": list(dependencies)}
    return specification_of({"name": "e", "python": {"condaDependencies": packages}, "docker": docker})


def test_a_conda_file_in_its_parts() -> None:
    document = specified(
        "python = 3.8", "conda-forge::numpy=1.18", "pip=20.1", {"pip": ["--pre", "azureml-defaults", "torch == 1.6.0"]}
    )
    assert document.python == "3.8"
    assert document.conda == ("conda-forge::numpy=1.18", "pip=20.1")
    assert document.options == ("--pre",)
    assert document.pip == ("torch == 1.6.0",)
    assert document.left_out == ("azureml-defaults",)


@pytest.mark.parametrize(
    "line",
    [
        "azureml-core",
        "azureml-sdk[notebooks,automl]==1.20.0",
        "AzureML_Defaults>=1",
        "azureml-mlflow; python_version>'3'",
    ],
)
def test_the_sdk_is_not_a_package_to_install(line: str) -> None:
    assert contract.is_sdk_package(line)


@pytest.mark.parametrize("line", ["azure-storage-blob", "azuremlx", "git+https://host/azureml-core.git", "mlflow"])
def test_other_packages_stay(line: str) -> None:
    assert not contract.is_sdk_package(line)


def test_the_same_packages_have_the_same_key_whatever_their_order_and_name() -> None:
    one = specified("python=3.8", "numpy", "scipy", {"pip": ["torch", "six"]})
    other = specified(
        "python=3.8", "scipy", "numpy", {"pip": ["six", "torch", "azureml-defaults"]}, channels=("defaults",)
    )
    assert one.key() == other.key()


@pytest.mark.parametrize(
    "other",
    [
        specified("python=3.9", {"pip": ["torch"]}),
        specified("python=3.8", {"pip": ["torch==1.6.0"]}),
        specified("python=3.8", "torch"),
        specified("python=3.8", {"pip": ["torch", "--pre"]}),
        specified("python=3.8", {"pip": ["torch"]}, channels=("bioconda",)),
        specified("python=3.8", {"pip": ["torch"]}, baseImage="ubuntu:22.04"),
        specified("python=3.8", {"pip": ["torch"]}, baseDockerfile="FROM ubuntu"),
    ],
)
def test_what_differs_has_another_key(other: Specification) -> None:
    one = specified("python=3.8", {"pip": ["torch"]})
    assert one.key() != other.key()
    assert one.key() != one.key(relaxed=True)


def test_kinds() -> None:
    environment = Environment("e")
    assert specification_of(environment.to_dict()).kind == PACKAGES
    environment.python.user_managed_dependencies = True
    assert specification_of(environment.to_dict()).kind == CURRENT
    assert specification_of(Environment.from_docker_image("e", "python:3.12").to_dict()).kind == CONTAINER
    assert specification_of(Environment.from_dockerfile("e", "FROM python:3.12").to_dict()).kind == CONTAINER
    assert specified({"pip": ["six"]}, baseImage=DEFAULT_CPU_IMAGE).kind == PACKAGES  # the machine stands in for it
    assert specified({"pip": ["azureml-defaults"]}).kind == PACKAGES  # nothing but the SDK: an environment without more
    assert specified().kind == Specification().kind == CURRENT


def test_packages_of_a_user_managed_environment_do_not_count() -> None:
    environment = Environment("e")
    environment.python.conda_dependencies = CondaDependencies.create(pip_packages=["torch"])
    environment.python.user_managed_dependencies = True
    document = specification_of(environment.to_dict())
    assert not document.packages
    assert document.pip == ()


def test_a_specification_survives_json() -> None:
    document = specified("python=3.8", "numpy", {"pip": ["torch"]}, baseImage="python:3.12")
    assert Specification.from_dict({**document.as_dict(), "of a later version": 1}) == document


def test_the_content_of_a_definition_is_told_without_its_name() -> None:
    one, other = Environment("one").to_dict(), Environment("other").to_dict()
    assert contract.content_hash({**one, "version": "3"}) == contract.content_hash(other)
    other["python"]["condaDependencies"]["dependencies"].append("numpy")
    assert contract.content_hash(one) != contract.content_hash(other)
