"""The estimators of a public how-to page of SDK v1 (PyTorch), word for word, and where the names of estimators are."""

from typing import Any

import pytest
from tests.support.seeds import HOROVOD_ESTIMATOR, PYTORCH_ESTIMATOR

import azureml.train.dnn
import azureml.train.estimator
import azureml.train.sklearn
from runyard.contracts.distribution import Distribution
from runyard.sdk.submit.distribution import distribution_of

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.fixture
def names() -> dict[str, Any]:
    """The names that the page has set before the piece of code at hand."""
    document: dict[str, Any] = {"project_folder": "./pytorch-birds", "compute_target": "gpucluster"}
    exec(
        """
import os
import shutil

from azureml.core.workspace import Workspace
from azureml.core import Experiment

from azureml.core.compute import ComputeTarget, AmlCompute
from azureml.core.compute_target import ComputeTargetException
from azureml.train.dnn import PyTorch
from azureml.core.runconfig import MpiConfiguration
""",
        document,
    )
    return document


def test_the_pages_estimator(names: dict[str, Any]) -> None:
    exec(PYTORCH_ESTIMATOR, names)
    estimator = names["estimator"]
    config = estimator.run_config
    assert (estimator.source_directory, config.target, config.script) == (
        *("./pytorch-birds", "gpucluster", "pytorch_train.py"),
    )
    assert config.arguments == ["--num_epochs", 30, "--output_dir", "./outputs"]
    assert "cuda" in config.environment.docker.base_image
    assert estimator.conda_dependencies.pip_packages == [
        *("azureml-defaults", "torch==1.4.*", "torchvision", "pillow==5.4.1"),
    ]


def test_the_pages_horovod_estimator(names: dict[str, Any]) -> None:
    names["script_params"] = None
    exec(HOROVOD_ESTIMATOR, names)
    estimator = names["estimator"]
    assert estimator.framework_version == "1.13"
    assert estimator.run_config.communicator == "IntelMpi"
    assert distribution_of(estimator.run_config) == Distribution("mpi", nodes=2, processes=2)


def test_one_class_under_both_its_paths() -> None:
    for name in ("Gloo", "Mpi", "Nccl", "ParameterServer"):
        assert getattr(azureml.train.estimator, name) is getattr(azureml.train.dnn, name)
    for kind in (azureml.train.dnn.PyTorch, azureml.train.estimator.Estimator, azureml.train.sklearn.SKLearn):
        assert issubclass(kind, azureml.train.estimator.MMLBaseEstimator)
