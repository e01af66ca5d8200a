"""Estimators with their framework: PyTorch, TensorFlow, Chainer and scikit-learn, each in the version chosen.

The versions of SDK v1 come with the Python that it had for them, which few machines of today can have: the build fails
with that reason, unless the workspace relaxes pins or maps the environment's name to an installed one. Horovod is in
reach of every run under MPI: itself where the environment has it, a layer with its interface otherwise.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, ClassVar, Mapping, Sequence

from runyard.sdk.estimator.distribution import GLOO, MPI, NCCL, PARAMETER_SERVER, backend_of
from runyard.sdk.estimator.estimator import MMLBaseEstimator, options_of
from runyard.sdk.estimator.packages import Framework
from runyard.sdk.exceptions import TrainingException

if TYPE_CHECKING:
    from runyard.sdk.compute.compute import ComputeTarget
    from runyard.sdk.compute.legacy import AbstractComputeTarget
    from runyard.sdk.data.data_reference import DataReference
    from runyard.sdk.data.datapath import DataPath
    from runyard.sdk.data.dataset_consumption import DatasetConsumptionConfig
    from runyard.sdk.environment.container_registry import ContainerRegistry
    from runyard.sdk.environment.environment import Environment
    from runyard.sdk.estimator.distribution import Job

PYTHON = "3.6.2"
"""The Python of every version that SDK v1 knew."""


def _minors(major: int, first: int, last: int) -> tuple[str, ...]:
    return tuple(f"{major}.{minor}" for minor in range(first, last + 1))


class _FrameworkEstimator(MMLBaseEstimator):
    """What they have in common: a version, and the pip requirements for it."""

    FRAMEWORK_NAME: ClassVar[str]
    DEFAULT_VERSION: ClassVar[str]

    _versions: ClassVar[tuple[str, ...]]  # that SDK v1 knew
    _later: ClassVar[tuple[str, ...]]  # releases since then
    _backends: ClassVar[tuple[str, ...]] = (MPI,)

    @classmethod
    def get_supported_versions(cls) -> list[str]:
        """The versions that `framework_version` takes: those of SDK v1, then the releases since."""
        return [*cls._versions, *cls._later]

    @property
    def framework_version(self) -> str:
        return self._version

    @classmethod
    def _lines(cls, version: str, gpu: bool, mpi: bool) -> tuple[str, ...]:
        """What is installed for a version."""
        raise NotImplementedError

    def _bring(self, given: Mapping[str, Any]) -> None:
        """The whole of a constructor, from its `locals()`."""
        version = self._version = self._checked(given["framework_version"])
        gpu = bool(given.get("use_gpu"))
        mpi = MPI in (backend_of(given.get("distributed_training")), str(given.get("distributed_backend")).lower())
        framework = Framework(
            environment=f"{self.FRAMEWORK_NAME}-{version}-{'GPU' if gpu else 'CPU'}",
            pip=self._lines(version, gpu, mpi),
            python=PYTHON if version in self._versions else "",
        )
        self._become(options_of(given, framework=framework, backends=self._backends, jobs=self._backends), above=1)

    @classmethod
    def _checked(cls, version: object) -> str:
        if version is None:
            return cls.DEFAULT_VERSION
        known = cls.get_supported_versions()
        if version not in known:
            named = cls._lines(cls.DEFAULT_VERSION, gpu=False, mpi=False)[0].partition("==")[0]
            raise TrainingException(
                f"{cls.__name__} has no framework_version {version!r}. It has: {', '.join(known)}. For another, leave "
                f"it out and ask for the package yourself: pip_packages=['{named}=={version}']."
            )
        return str(version)


class _DistributedEstimator(_FrameworkEstimator):
    """The constructor of those that run on many nodes and have no parameters of their own."""

    def __init__(
        self,
        source_directory: str | os.PathLike[str] | None,
        *,
        compute_target: str | AbstractComputeTarget | ComputeTarget | None = None,
        vm_size: str | None = None,
        vm_priority: str | None = None,
        entry_script: str | None = None,
        script_params: Mapping[str, Any] | None = None,
        node_count: int = 1,
        process_count_per_node: int = 1,
        distributed_backend: str | None = None,
        distributed_training: Job | None = None,
        use_gpu: bool = False,
        use_docker: bool = True,
        custom_docker_base_image: str | None = None,
        custom_docker_image: str | None = None,
        image_registry_details: ContainerRegistry | None = None,
        user_managed: bool = False,
        conda_packages: Sequence[str] | None = None,
        pip_packages: Sequence[str] | None = None,
        conda_dependencies_file_path: str | os.PathLike[str] | None = None,
        pip_requirements_file_path: str | os.PathLike[str] | None = None,
        conda_dependencies_file: str | os.PathLike[str] | None = None,
        pip_requirements_file: str | os.PathLike[str] | None = None,
        environment_variables: Mapping[str, str] | None = None,
        environment_definition: Environment | None = None,
        inputs: Sequence[DataReference | DatasetConsumptionConfig] | None = None,
        source_directory_data_store: Any = None,
        shm_size: str | None = None,
        resume_from: DataPath | None = None,
        max_run_duration_seconds: int | None = None,
        framework_version: str | None = None,
    ) -> None:
        self._bring(locals())


class PyTorch(_DistributedEstimator):
    """An estimator for PyTorch.

    >>> estimator = PyTorch(".", compute_target="local", entry_script="train.py", framework_version="1.13")
    >>> estimator.conda_dependencies.pip_packages
    ['azureml-defaults', 'torch==1.13.*', 'torchvision']
    """

    FRAMEWORK_NAME = "PyTorch"
    DEFAULT_VERSION = "1.4"

    _versions = _minors(1, 0, 6)
    _later = (*_minors(1, 7, 13), *_minors(2, 0, 13))
    _backends = (MPI, NCCL, GLOO)

    @classmethod
    def _lines(cls, version: str, gpu: bool, mpi: bool) -> tuple[str, ...]:
        # Every torchvision requires its own torch: pip finds the one for this torch by that.
        return (_pinned("torch", version), "torchvision")


class Chainer(_DistributedEstimator):
    """An estimator for Chainer; under MPI it brings mpi4py, which ChainerMN needs."""

    FRAMEWORK_NAME = "Chainer"
    DEFAULT_VERSION = "5.1.0"

    _versions = ("5.1.0", "7.0.0")
    _later = ("7.8.1",)

    @classmethod
    def _lines(cls, version: str, gpu: bool, mpi: bool) -> tuple[str, ...]:
        return (_pinned("chainer", version), *(("mpi4py",) if mpi else ()))


class TensorFlow(_FrameworkEstimator):
    """An estimator for TensorFlow.

    `worker_count` and `parameter_server_count` belong to the older `distributed_backend='ps'`: new code gives
    `distributed_training=ParameterServer(worker_count=2)`.
    """

    FRAMEWORK_NAME = "TensorFlow"
    DEFAULT_VERSION = "1.13"

    _versions = ("1.10", "1.12", "1.13", *_minors(2, 0, 3))
    _later = _minors(2, 4, 21)
    _backends = (MPI, PARAMETER_SERVER)

    def __init__(
        self,
        source_directory: str | os.PathLike[str] | None,
        *,
        compute_target: str | AbstractComputeTarget | ComputeTarget | None = None,
        vm_size: str | None = None,
        vm_priority: str | None = None,
        entry_script: str | None = None,
        script_params: Mapping[str, Any] | None = None,
        node_count: int = 1,
        process_count_per_node: int = 1,
        worker_count: int = 1,
        parameter_server_count: int = 1,
        distributed_backend: str | None = None,
        distributed_training: Job | None = None,
        use_gpu: bool = False,
        use_docker: bool = True,
        custom_docker_base_image: str | None = None,
        custom_docker_image: str | None = None,
        image_registry_details: ContainerRegistry | None = None,
        user_managed: bool = False,
        conda_packages: Sequence[str] | None = None,
        pip_packages: Sequence[str] | None = None,
        conda_dependencies_file_path: str | os.PathLike[str] | None = None,
        pip_requirements_file_path: str | os.PathLike[str] | None = None,
        conda_dependencies_file: str | os.PathLike[str] | None = None,
        pip_requirements_file: str | os.PathLike[str] | None = None,
        environment_variables: Mapping[str, str] | None = None,
        environment_definition: Environment | None = None,
        inputs: Sequence[DataReference | DatasetConsumptionConfig] | None = None,
        source_directory_data_store: Any = None,
        shm_size: str | None = None,
        resume_from: DataPath | None = None,
        max_run_duration_seconds: int | None = None,
        framework_version: str | None = None,
    ) -> None:
        self._bring(locals())

    @classmethod
    def _lines(cls, version: str, gpu: bool, mpi: bool) -> tuple[str, ...]:
        # Later releases are one package for both.
        name = "tensorflow-gpu" if gpu and version in cls._versions else "tensorflow"
        return (_pinned(name, version),)


class SKLearn(_FrameworkEstimator):
    """An estimator for scikit-learn: one process on one node."""

    FRAMEWORK_NAME = "SKLearn"
    DEFAULT_VERSION = "0.20.3"

    _versions = ("0.20.3",)
    _later = (*_minors(0, 21, 24), *_minors(1, 0, 9))
    _backends = ()

    def __init__(
        self,
        source_directory: str | os.PathLike[str] | None,
        *,
        compute_target: str | AbstractComputeTarget | ComputeTarget | None = None,
        vm_size: str | None = None,
        vm_priority: str | None = None,
        entry_script: str | None = None,
        script_params: Mapping[str, Any] | None = None,
        use_docker: bool = True,
        custom_docker_image: str | None = None,
        image_registry_details: ContainerRegistry | None = None,
        user_managed: bool = False,
        conda_packages: Sequence[str] | None = None,
        pip_packages: Sequence[str] | None = None,
        conda_dependencies_file_path: str | os.PathLike[str] | None = None,
        pip_requirements_file_path: str | os.PathLike[str] | None = None,
        conda_dependencies_file: str | os.PathLike[str] | None = None,
        pip_requirements_file: str | os.PathLike[str] | None = None,
        environment_variables: Mapping[str, str] | None = None,
        environment_definition: Environment | None = None,
        inputs: Sequence[DataReference | DatasetConsumptionConfig] | None = None,
        shm_size: str | None = None,
        resume_from: DataPath | None = None,
        max_run_duration_seconds: int | None = None,
        framework_version: str | None = None,
    ) -> None:
        self._bring(locals())

    @classmethod
    def _lines(cls, version: str, gpu: bool, mpi: bool) -> tuple[str, ...]:
        return (_pinned("scikit-learn", version),)


def _pinned(package: str, version: str) -> str:
    """A release that is given by two numbers is any of its patch releases."""
    return f"{package}=={version}" if version.count(".") > 1 else f"{package}=={version}.*"
