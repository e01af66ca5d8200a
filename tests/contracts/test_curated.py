"""If these fail, a notebook that names one of Azure's environments does not run any more."""

from __future__ import annotations

import warnings

import pytest

from runyard.contracts import curated
from runyard.contracts.environment import PACKAGES, specification_of
from runyard.sdk.environment.environment import Environment


def found(name: str) -> curated.Curated:
    it = curated.find(name)
    assert it is not None, name
    return it


@pytest.mark.parametrize(
    ("name", "package"),
    [
        ("AzureML-PyTorch-1.6-GPU", "torch"),
        ("AzureML-pytorch-1.10-ubuntu18.04-py38-cuda11-gpu", "torch"),
        ("AzureML-ACPT-pytorch-1.13-py38-cuda11.7-gpu", "torch"),
        ("AzureML-acpt-pytorch-2.8-cuda12.6", "torch"),
        ("AzureML-DeepSpeed-0.3-GPU", "deepspeed"),
        ("AzureML-TensorFlow-2.2-GPU", "tensorflow"),
        ("AzureML-tensorflow-2.7-ubuntu20.04-py38-cuda11-gpu", "tensorflow"),
        ("AzureML-Scikit-learn-0.20.3", "scikit-learn"),
        ("AzureML-sklearn-0.24-ubuntu18.04-py37-cpu", "scikit-learn"),
        ("AzureML-Tutorial", "scikit-learn"),
        ("AzureML-lightgbm-3.2-ubuntu18.04-py37-cpu", "lightgbm"),
        ("AzureML-xgboost-0.9-ubuntu18.04-py37-cpu-inference", "xgboost"),
        ("AzureML-PySpark-MmlSpark-0.15", "pyspark"),
        ("AzureML-VowpalWabbit-8.8.0", "vowpalwabbit"),
        ("AzureML-Hyperdrive-ForecastDNN", "torch"),
        ("AzureML-AutoML-DNN-GPU", "torch"),
    ],
)
def test_a_name_stands_for_the_current_release_of_what_it_names(name: str, package: str) -> None:
    specification = specification_of(found(name).definition)
    assert package in specification.pip
    assert not any("=" in line for line in specification.pip)
    assert "torchvision" not in specification.pip
    assert specification.python == ""


@pytest.mark.parametrize("name", curated.names())
def test_every_listed_name_is_a_whole_definition(name: str) -> None:
    it = found(name)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        environment = Environment.from_dict(it.definition)
    assert environment.to_dict() == it.definition
    assert (environment.name, environment.version) == (name, "1")
    assert environment.python.conda_dependencies.get_python_version() is None
    assert specification_of(it.definition).kind == PACKAGES
    assert it.note.startswith(name)
    assert it.note.endswith(".")
    assert curated.is_reserved(name)


def test_a_note_names_the_version_that_is_not_used() -> None:
    assert found("AzureML-PyTorch-1.6-GPU").note == (
        "AzureML-PyTorch-1.6-GPU stands for torch 1.6 on Azure: the current release of torch is used, because old ones "
        "have no build for a current Python."
    )
    assert "scikit-learn 0.24" in found("AzureML-sklearn-0.24-ubuntu18.04-py37-cpu").note
    assert "no other package" in found("AzureML-Minimal").note
    assert "Java" in found("AzureML-PySpark-MmlSpark-0.15").note


def test_cpu_and_gpu_differ_in_the_image_alone() -> None:
    cpu, gpu = found("AzureML-PyTorch-1.6-CPU").definition, found("AzureML-PyTorch-1.6-GPU").definition
    assert (cpu["docker"]["baseImage"], gpu["docker"]["baseImage"]) == (curated.CPU_IMAGE, curated.GPU_IMAGE)
    assert specification_of(cpu).key() == specification_of(gpu).key()


def test_a_definition_that_is_changed_changes_nobody_elses() -> None:
    found("AzureML-Minimal").definition["python"]["condaDependencies"]["channels"].append("mine")
    assert found("AzureML-Minimal").definition["python"]["condaDependencies"]["channels"] == ["conda-forge"]


@pytest.mark.parametrize(
    "name", ["", "pytorch", "AzureML", "AzureML-", "AzureML-Surprise", "Microsoft-pytorch", "mine"]
)
def test_other_names_stand_for_nothing(name: str) -> None:
    assert curated.find(name) is None


def test_names_are_told_once_and_in_order() -> None:
    names = curated.names()
    assert names == sorted(set(names), key=str.lower)
    assert len(names) > 60
