"""The run configuration: all about a run but the folder of its script."""

from __future__ import annotations

import os
import warnings
from typing import TYPE_CHECKING, Any

from runyard.contracts.compute import RESTARTS
from runyard.sdk.compute.legacy import AbstractComputeTarget
from runyard.sdk.configuration import Configuration, dict_of, of
from runyard.sdk.data.configuration import Data, DataReferenceConfiguration, OutputData
from runyard.sdk.environment.conda_dependencies import CondaDependencies
from runyard.sdk.environment.environment import Environment
from runyard.sdk.submit.distributed import (
    MpiConfiguration,
    ParallelTaskConfiguration,
    PyTorchConfiguration,
    TensorflowConfiguration,
)
from runyard.system.records import field, record

if TYPE_CHECKING:
    from runyard.sdk.compute.compute import ComputeTarget

DEFAULT_ENVIRONMENT = "default-environment"


@record(repr=False)
class HistoryConfiguration(Configuration):
    """What of a run is stored: its outputs, its snapshot, and the folders that are followed while it runs."""

    output_collection: bool = True
    snapshot_project: bool = True
    directories_to_watch: list[str] = field(default_factory=lambda: ["logs"])


@record(repr=False)
class DockerConfiguration(Configuration):
    """Whether and how a run is executed in a container."""

    use_docker: bool = False
    shared_volumes: bool = True
    arguments: list[str] = field(default_factory=list)
    shm_size: str = "2g"


@record(repr=False)
class SparkConfiguration(Configuration):
    """Settings of a Spark job. Stored, and used by no engine of Runyard."""

    configuration: dict[str, Any] = field(
        default_factory=lambda: {"spark.app.name": "Azure ML Experiment", "spark.yarn.maxAppAttempts": 1}
    )


@record(repr=False)
class HdiConfiguration(Configuration):
    """Settings of an HDInsight job. Stored, and used by no engine of Runyard."""

    yarn_deploy_mode: str = "cluster"


@record(repr=False)
class AmlComputeConfiguration(Configuration):
    """The machine for a run on the target 'amlcompute'."""

    vm_size: str | None = None
    vm_priority: str | None = None
    name: str | None = None
    retain_cluster: bool = False
    cluster_max_node_count: int = 1


@record(repr=False)
class KubernetesComputeConfiguration(Configuration):
    """The instance type for a run on Kubernetes."""

    _open = True

    instance_type: str | None = None


@record(repr=False)
class RunyardConfiguration(Configuration):
    """What Runyard can do and SDK v1 has no setting for.

    `restarts` is how often a run is restarted automatically after its nodes were taken away. `process_count_per_node`
    is the number of plain processes on each node of a run without a framework; None starts one, without a rank.
    """

    restarts: int = RESTARTS
    process_count_per_node: int | None = None


def _default_environment() -> Environment:
    return Environment(DEFAULT_ENVIRONMENT)


@record(repr=False, init=False)
class RunConfiguration(Configuration):
    """How and where a script runs.

    >>> configuration = RunConfiguration(script="train.py")
    >>> configuration.target, configuration.framework, configuration.node_count
    ('local', 'Python', 1)

    `to_dict` is the definition that is stored with the run.
    """

    script: str | None = None
    command: str | list[str] | None = None
    arguments: list[Any] = field(default_factory=list)
    _target: str = "local"
    framework: str = "Python"
    communicator: str = "None"
    _auto_prepare_environment: bool = True
    max_run_duration_seconds: int | None = None
    node_count: int = 1
    priority: int | None = None
    credential_passthrough: bool = False
    _environment_variables: dict[str, str] = field(default_factory=dict)
    environment: Environment = field(default_factory=_default_environment, metadata=of(Environment))
    history: HistoryConfiguration = field(default_factory=HistoryConfiguration, metadata=of(HistoryConfiguration))
    spark: SparkConfiguration = field(default_factory=SparkConfiguration, metadata=of(SparkConfiguration))
    docker: DockerConfiguration = field(default_factory=DockerConfiguration, metadata=of(DockerConfiguration))
    hdi: HdiConfiguration = field(default_factory=HdiConfiguration, metadata=of(HdiConfiguration))
    tensorflow: TensorflowConfiguration = field(
        default_factory=TensorflowConfiguration, metadata=of(TensorflowConfiguration)
    )
    mpi: MpiConfiguration = field(default_factory=MpiConfiguration, metadata=of(MpiConfiguration))
    pytorch: PyTorchConfiguration = field(default_factory=PyTorchConfiguration, metadata=of(PyTorchConfiguration))
    paralleltask: ParallelTaskConfiguration = field(
        default_factory=ParallelTaskConfiguration, metadata=of(ParallelTaskConfiguration)
    )
    data_references: dict[str, DataReferenceConfiguration] = field(
        default_factory=dict, metadata=dict_of(DataReferenceConfiguration)
    )
    data: dict[str, Data] = field(default_factory=dict, metadata=dict_of(Data))
    datacaches: list[Any] = field(default_factory=list)
    output_data: dict[str, OutputData] = field(default_factory=dict, metadata=dict_of(OutputData))
    source_directory_data_store: str | None = None
    amlcompute: AmlComputeConfiguration = field(
        default_factory=AmlComputeConfiguration, metadata=of(AmlComputeConfiguration)
    )
    kubernetescompute: KubernetesComputeConfiguration = field(
        default_factory=KubernetesComputeConfiguration, metadata=of(KubernetesComputeConfiguration)
    )
    services: dict[str, Any] = field(default_factory=dict)
    auto_cluster_compute_specification: dict[str, Any] | None = None
    runyard: RunyardConfiguration = field(default_factory=RunyardConfiguration, metadata=of(RunyardConfiguration))

    def __init__(
        self,
        script: str | None = None,
        arguments: list[Any] | None = None,
        framework: str | None = None,
        communicator: str | None = None,
        conda_dependencies: CondaDependencies | None = None,
        command: str | list[str] | None = None,
    ) -> None:
        self._fill()
        self.script = script
        self.command = command
        self.arguments = arguments if arguments is not None else self.arguments
        self.framework = framework or self.framework
        self.communicator = communicator or self.communicator
        if conda_dependencies is not None:
            self.environment.python.conda_dependencies = conda_dependencies

    @property
    def target(self) -> str:
        """The name of the compute target. It may be set from the target itself."""
        return self._target

    @target.setter
    def target(self, value: str | AbstractComputeTarget | ComputeTarget) -> None:
        name = value if isinstance(value, str) else getattr(value, "name", None)
        if isinstance(name, str):
            self._target = name
        else:
            warnings.warn(
                f"The target stays {self._target!r}: {value!r} is neither a compute target nor the name of one.",
                stacklevel=3,
            )

    @property
    def environment_variables(self) -> dict[str, str]:
        """Variables that the script sees, in addition to the environment's."""
        return self._environment_variables

    @environment_variables.setter
    def environment_variables(self, value: dict[str, str]) -> None:
        self._environment_variables = value

    @property
    def auto_prepare_environment(self) -> bool:
        """Deprecated: an environment is always prepared when a run needs it."""
        return self._auto_prepare_environment

    @auto_prepare_environment.setter
    def auto_prepare_environment(self, value: bool) -> None:
        warnings.warn("auto_prepare_environment is deprecated and changes nothing.", DeprecationWarning, stacklevel=3)
        self._auto_prepare_environment = value

    def save(
        self,
        path: str | os.PathLike[str] | None = None,
        name: str | None = None,
        separate_environment_yaml: bool = False,
    ) -> None:
        """Write the configuration to `<path>/.azureml/<name>`, and its packages to `conda_dependencies.yml` beside it.

        With `separate_environment_yaml` the environment goes to `environment.yml` beside it.
        """
        from runyard.sdk.submit import runconfig_files

        runconfig_files.save(self, path, name, separate_environment_yaml)

    @staticmethod
    def load(path: str | os.PathLike[str], name: str | None = None) -> RunConfiguration:
        """Read a configuration that was saved in the folder `path`, or in the file `path` when there is no name."""
        from runyard.sdk.submit import runconfig_files

        return runconfig_files.load(path, name)

    @staticmethod
    def delete(path: str | os.PathLike[str], name: str) -> None:
        """Remove a saved configuration. The package file beside it stays: others may use it."""
        from runyard.sdk.submit import runconfig_files

        runconfig_files.delete(path, name)
