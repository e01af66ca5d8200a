import doctest
import inspect
import warnings
from typing import Any

import pytest

from runyard.sdk.environment.environment import Environment
from runyard.sdk.environment.sections import DEFAULT_GPU_IMAGE
from runyard.sdk.estimator import frameworks
from runyard.sdk.estimator.distribution import Gloo, Mpi, Nccl, ParameterServer
from runyard.sdk.estimator.frameworks import Chainer, PyTorch, SKLearn, TensorFlow
from runyard.sdk.exceptions import TrainingException
from runyard.sdk.submit.distributed import MpiConfiguration

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*is deprecated in SDK v1:DeprecationWarning"),
]


def test_the_example_runs() -> None:
    assert doctest.testmod(frameworks).failed == 0


@pytest.mark.parametrize(
    ("kind", "name", "default", "known"),
    [
        (PyTorch, "PyTorch", "1.4", ["1.0", "1.1", "1.2", "1.3", "1.4", "1.5", "1.6"]),
        (TensorFlow, "TensorFlow", "1.13", ["1.10", "1.12", "1.13", "2.0", "2.1", "2.2", "2.3"]),
        (Chainer, "Chainer", "5.1.0", ["5.1.0", "7.0.0"]),
        (SKLearn, "SKLearn", "0.20.3", ["0.20.3"]),
    ],
)
def test_versions(kind: Any, name: str, default: str, known: "list[str]") -> None:
    assert [name, default] == [kind.FRAMEWORK_NAME, kind.DEFAULT_VERSION]
    assert kind.get_supported_versions()[: len(known)] == known
    estimator = kind(".", compute_target="local")
    assert estimator.framework_version == default
    assert estimator.conda_dependencies.get_python_version() == "3.6.2"
    with pytest.raises(TrainingException, match=r"has no framework_version '99\.9'.*pip_packages="):
        kind(".", compute_target="local", framework_version="99.9")


@pytest.mark.parametrize(
    ("kind", "options", "lines"),
    [
        (PyTorch, {}, ["torch==1.4.*", "torchvision"]),
        (PyTorch, {"distributed_training": Mpi()}, ["torch==1.4.*", "torchvision"]),
        (PyTorch, {"distributed_backend": "MPI"}, ["torch==1.4.*", "torchvision"]),
        (PyTorch, {"distributed_training": Nccl()}, ["torch==1.4.*", "torchvision"]),
        (TensorFlow, {"framework_version": "2.2", "use_gpu": True}, ["tensorflow-gpu==2.2.*"]),
        (TensorFlow, {"framework_version": "2.21", "use_gpu": True}, ["tensorflow==2.21.*"]),
        (TensorFlow, {"distributed_training": MpiConfiguration()}, ["tensorflow==1.13.*"]),
        (Chainer, {"framework_version": "7.0.0"}, ["chainer==7.0.0"]),
        (Chainer, {"distributed_training": Mpi()}, ["chainer==5.1.0", "mpi4py"]),
        (SKLearn, {"pip_packages": ["pandas"]}, ["scikit-learn==0.20.3", "pandas"]),
    ],
)
def test_what_is_installed(kind: Any, options: "dict[str, Any]", lines: "list[str]") -> None:
    estimator = kind(".", compute_target="local", **options)
    assert estimator.conda_dependencies.pip_packages == ["azureml-defaults", *lines]


def test_a_release_since_then_takes_any_python() -> None:
    estimator = PyTorch(".", compute_target="gpu-cluster", framework_version="1.13", use_gpu=True)
    assert estimator.framework_version == "1.13"
    assert estimator.conda_dependencies.get_python_version() == "3.8.13"  # a stock one, which is no pin
    assert estimator.run_config.environment.name == "PyTorch-1.13-GPU"
    assert estimator.run_config.environment.docker.base_image == DEFAULT_GPU_IMAGE


def test_horovod_is_nothing_to_warn_of() -> None:
    """A run under MPI has it, or the layer with its interface."""
    jobs: list[dict[str, Any]] = [
        {"distributed_training": Gloo()},
        {"distributed_training": MpiConfiguration()},
        {"distributed_training": Mpi(), "pip_packages": ["horovod==0.28.1"]},
        {"distributed_training": Mpi(), "user_managed": True},
    ]
    for options in jobs:
        with warnings.catch_warnings():
            warnings.simplefilter("error", UserWarning)
            PyTorch(".", compute_target="c", **options)


def test_your_own_version_wins_and_you_are_told_where_you_asked() -> None:
    with pytest.warns(UserWarning, match=r"torch==2\.13\.0 is taken in the place of torch==1\.4") as seen:
        estimator = PyTorch(".", compute_target="local", pip_packages=["torch==2.13.0"])
    assert estimator.conda_dependencies.pip_packages == ["azureml-defaults", "torchvision", "torch==2.13.0"]
    assert seen.pop(UserWarning).filename == __file__


@pytest.mark.parametrize("options", [{"user_managed": True}, {"environment_definition": Environment("mine")}])
def test_an_environment_of_ones_own_gets_no_framework(options: "dict[str, Any]") -> None:
    estimator = PyTorch(".", compute_target="local", **options)
    assert estimator.conda_dependencies.pip_packages == ["azureml-defaults"]
    assert estimator.run_config.environment.name in ("mine", "default-environment")


def test_jobs_of_each_framework() -> None:
    gloo = PyTorch(".", compute_target="c", node_count=2, distributed_training=Gloo()).run_config
    assert (gloo.communicator, gloo.framework, gloo.pytorch.node_count) == ("Gloo", "pytorch", 2)
    older = TensorFlow(
        ".", compute_target="c", node_count=2, distributed_backend="ps", worker_count=2, parameter_server_count=1
    ).run_config
    newer = TensorFlow(".", compute_target="c", node_count=2, distributed_training=ParameterServer(2, 1)).run_config
    for each in (older, newer):
        assert (each.communicator, each.node_count) == ("ParameterServer", 2)
        assert (each.tensorflow.worker_count, each.tensorflow.parameter_server_count) == (2, 1)
    for kind, job in ((TensorFlow, Gloo()), (Chainer, ParameterServer()), (PyTorch, ParameterServer())):
        with pytest.raises(TrainingException, match="distributed_training must be"):
            kind(".", compute_target="c", distributed_training=job)
    with pytest.raises(TrainingException, match="'nccl' is no distributed_backend"):
        Chainer(".", compute_target="c", distributed_backend="nccl")


def test_sklearn_is_one_process() -> None:
    missing = {
        *("node_count", "process_count_per_node", "distributed_backend", "distributed_training", "use_gpu"),
        *("source_directory_data_store", "custom_docker_base_image"),
    }
    assert set(inspect.signature(PyTorch).parameters) - set(inspect.signature(SKLearn).parameters) == missing
    with pytest.raises(TypeError, match="node_count"):
        SKLearn(".", compute_target="local", node_count=2)  # type: ignore[call-arg]


@pytest.mark.parametrize("kind", [PyTorch, TensorFlow, Chainer, SKLearn])
def test_each_warns_of_its_age_where_it_is_made(kind: Any) -> None:
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        kind(".", compute_target="local")
    assert [(each.category, each.filename) for each in seen] == [(DeprecationWarning, __file__)]
