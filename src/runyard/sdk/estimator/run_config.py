"""The run configuration that an estimator becomes: its options checked, and each put in its place."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Iterable, Mapping, Sequence

from runyard.contracts.compute import LOCAL
from runyard.sdk.data.data_reference import DataReference
from runyard.sdk.data.dataset_consumption import DatasetConsumptionConfig
from runyard.sdk.environment.container_registry import ContainerRegistry
from runyard.sdk.environment.sections import DEFAULT_GPU_IMAGE
from runyard.sdk.estimator import distribution, packages
from runyard.sdk.estimator.distribution import BACKENDS, MPI, Job
from runyard.sdk.exceptions import ComputeTargetException, TrainingException, UserErrorException
from runyard.sdk.submit.runconfig import DockerConfiguration, RunConfiguration
from runyard.sdk.submit.script_run_config import ScriptRunConfig, get_run_config_from_script_run

if TYPE_CHECKING:
    from runyard.sdk.compute.compute import ComputeTarget
    from runyard.sdk.compute.legacy import AbstractComputeTarget
    from runyard.sdk.data.datapath import DataPath
    from runyard.sdk.environment.environment import Environment
    from runyard.sdk.estimator.packages import Framework

ON_DEMAND = "amlcompute"
OF_MANY_NODES = ("amlcompute", "kubernetes", "ray", "slurm")
"""Types of targets, in lower case, that can have several nodes."""


@dataclass(frozen=True)
class Options:
    """The options of all estimators. Each takes some of them."""

    source_directory: str
    compute_target: str | AbstractComputeTarget | ComputeTarget | None = None
    vm_size: str | None = None
    vm_priority: str | None = None
    entry_script: str | None = None
    script_params: Mapping[str, Any] | None = None
    node_count: int | None = None
    process_count_per_node: int | None = None
    worker_count: int = 1
    parameter_server_count: int = 1
    distributed_backend: str | None = None
    distributed_training: Job | None = None
    use_gpu: bool | None = None
    use_docker: bool | None = None
    custom_docker_base_image: str | None = None
    custom_docker_image: str | None = None
    image_registry_details: ContainerRegistry | None = None
    user_managed: bool = False
    conda_packages: Sequence[str] | None = None
    pip_packages: Sequence[str] | None = None
    conda_dependencies_file_path: str | os.PathLike[str] | None = None
    pip_requirements_file_path: str | os.PathLike[str] | None = None
    conda_dependencies_file: str | os.PathLike[str] | None = None
    pip_requirements_file: str | os.PathLike[str] | None = None
    environment_variables: Mapping[str, str] | None = None
    environment_definition: Environment | None = None
    inputs: Sequence[DataReference | DatasetConsumptionConfig] | None = None
    source_directory_data_store: Any = None
    shm_size: str | None = None
    resume_from: DataPath | None = None
    max_run_duration_seconds: int | None = None
    backends: tuple[str, ...] = (MPI,)  # names that distributed_backend takes
    jobs: tuple[str, ...] = BACKENDS  # kinds that distributed_training takes, by the same names
    framework: Framework | None = None

    @property
    def conda_file(self) -> str | os.PathLike[str] | None:
        return self.conda_dependencies_file or self.conda_dependencies_file_path

    @property
    def pip_file(self) -> str | os.PathLike[str] | None:
        return self.pip_requirements_file or self.pip_requirements_file_path

    @property
    def image(self) -> str | None:
        return self.custom_docker_image or self.custom_docker_base_image

    @property
    def nodes(self) -> int:
        return distribution.checked_count("node_count", 1 if self.node_count is None else self.node_count)

    @property
    def processes(self) -> int:
        each = self.process_count_per_node
        return distribution.checked_count("process_count_per_node", 1 if each is None else each)

    def given(self, *names: str) -> list[str]:
        """Which of these options were given."""
        return [name for name in names if getattr(self, name)]


PACKAGES = ("conda_packages", "pip_packages", "pip_requirements_file", "pip_requirements_file_path")
CONDA_FILES = ("conda_dependencies_file", "conda_dependencies_file_path")
IMAGES = ("custom_docker_image", "custom_docker_base_image", "image_registry_details")


class MMLBaseEstimatorRunConfig(RunConfiguration):
    """The run configuration of an estimator."""

    def __init__(
        self,
        compute_target: str | AbstractComputeTarget | ComputeTarget | None,
        vm_size: str | None = None,
        vm_priority: str | None = None,
        entry_script: str | None = None,
        script_params: Mapping[str, Any] | None = None,
        node_count: int | None = None,
        process_count_per_node: int | None = None,
        distributed_backend: str | None = None,
        use_gpu: bool | None = None,
        use_docker: bool | None = None,
        custom_docker_base_image: str | None = None,
        custom_docker_image: str | None = None,
        image_registry_details: ContainerRegistry | None = None,
        user_managed: bool = False,
        conda_packages: Sequence[str] | None = None,
        pip_packages: Sequence[str] | None = None,
        environment_definition: Environment | None = None,
        inputs: Sequence[DataReference | DatasetConsumptionConfig] | None = None,
        source_directory_data_store: Any = None,
        shm_size: str | None = None,
    ) -> None:
        super().__init__()
        options = Options(
            source_directory=".",
            compute_target=compute_target,
            vm_size=vm_size,
            vm_priority=vm_priority,
            entry_script=entry_script,
            script_params=script_params,
            node_count=node_count,
            process_count_per_node=process_count_per_node,
            distributed_backend=distributed_backend,
            use_gpu=use_gpu,
            use_docker=use_docker,
            custom_docker_base_image=custom_docker_base_image,
            custom_docker_image=custom_docker_image,
            image_registry_details=image_registry_details,
            user_managed=user_managed,
            conda_packages=conda_packages,
            pip_packages=pip_packages,
            environment_definition=environment_definition,
            inputs=inputs,
            source_directory_data_store=source_directory_data_store,
            shm_size=shm_size,
            backends=BACKENDS,
        )
        settle(self, options)

    @classmethod
    def of(cls, options: Options) -> tuple[MMLBaseEstimatorRunConfig, list[str]]:
        """The configuration for all options of an estimator, and remarks for the user."""
        made = cls.__new__(cls)
        RunConfiguration.__init__(made)
        return made, settle(made, options)


def settle(run_config: RunConfiguration, options: Options) -> list[str]:
    """Check the options, and apply each to the run configuration. Returns warnings."""
    check(options)
    if options.compute_target is None:
        run_config.target = ON_DEMAND
        run_config.amlcompute.cluster_max_node_count = options.nodes
    else:
        run_config.target = options.compute_target
    run_config.amlcompute.vm_size, run_config.amlcompute.vm_priority = options.vm_size, options.vm_priority
    run_config.max_run_duration_seconds = options.max_run_duration_seconds
    run_config.environment_variables = dict(options.environment_variables or {})
    run_config.source_directory_data_store = store_name(options.source_directory_data_store)
    distribution.distribute(run_config, _job(options), options.nodes, options.processes)
    remarks = _environment(run_config, options)
    enter_inputs(run_config, options.inputs)
    _enter_script(run_config, options)
    return remarks


def check(options: Options) -> None:
    """Refuse contradictory options, before anything is made of them."""
    target = options.compute_target
    if target is None and not options.vm_size:
        raise TrainingException("The estimator has no compute target. Give compute_target, such as 'local'.")
    kind = str(getattr(target, "type", "")).lower()
    if kind == "hdinsight":
        raise ComputeTargetException("Estimators do not run on HDInsight. Give another compute_target.")
    alone = target == LOCAL or (bool(kind) and kind not in OF_MANY_NODES)
    if options.nodes > 1 and alone:
        name = target if isinstance(target, str) else getattr(target, "name", target)
        raise TrainingException(
            f"node_count={options.nodes}, but the compute target {name!r} is one machine. Make a cluster: "
            "ComputeTarget.create(ws, 'cpu-cluster', "
            f"AmlCompute.provisioning_configuration(max_nodes={options.nodes}))."
        )
    if str(options.entry_script or "").endswith(".ipynb"):
        raise TrainingException(
            f"{options.entry_script!r} is a notebook, which SDK v1 runs with azureml-contrib-notebook and Runyard does "
            "not. Make a script of it: jupyter nbconvert --to script."
        )
    _check_environment(options)


def _check_environment(options: Options) -> None:
    lists, files, images = options.given(*PACKAGES), options.given(*CONDA_FILES), options.given(*IMAGES)
    for name in options.given("conda_packages", "pip_packages"):
        if isinstance(getattr(options, name), str):
            raise TrainingException(f"{name} is a list such as ['numpy'], not the text {getattr(options, name)!r}.")
    if options.environment_definition is not None and (lists or files or images):
        raise TrainingException(
            f"environment_definition says all about the environment, so it takes no {', '.join(lists + files + images)}"
            " beside it. Put them into the definition."
        )
    if files and lists:
        raise TrainingException(f"{files[0]} says all packages, so it takes no {', '.join(lists)} beside it.")
    if options.use_docker is False and options.image:
        raise TrainingException(
            f"The image {options.image!r} needs a container, but use_docker is False. Take one out."
        )
    if options.user_managed and (lists or files):
        raise UserErrorException(
            f"user_managed=True uses the Python that is there as it is, so {', '.join(lists + files)} cannot be "
            "installed. Take one of them out."
        )


def arguments_of(script_params: Mapping[str, Any] | None) -> list[Any]:
    """The arguments of the script: each name with its value, a bare name where there is none.

    >>> arguments_of({"--epochs": 0, "--layers": [64, 32], "--fast": None, "--name": ""})
    ['--epochs', 0, '--layers', 64, 32, '--fast', '--name']
    """
    if script_params is None:
        return []
    if not isinstance(script_params, Mapping):
        raise TrainingException(f"script_params is a dictionary such as {{'--lr': 0.1}}, not {script_params!r}.")
    return [each for name, value in script_params.items() for each in (name, *_values(value))]


def _values(value: Any) -> list[Any]:
    if value is None or (isinstance(value, str) and not value):
        return []
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        return [value]
    return [each for one in value for each in _values(one)]


def store_name(datastore: Any) -> str | None:
    """The name of a datastore, given as itself or by its name."""
    name: str | None = getattr(datastore, "name", datastore)
    return name


def _enter_script(run_config: RunConfiguration, options: Options) -> None:
    """Set the script and its arguments; data among them goes to the data sections."""
    script_run = ScriptRunConfig(
        options.source_directory,
        script=options.entry_script,
        arguments=arguments_of(options.script_params),
        run_config=run_config,
        resume_from=options.resume_from,
    )
    made = get_run_config_from_script_run(script_run)
    run_config.script, run_config.arguments = made.script, made.arguments
    run_config.data_references, run_config.data = made.data_references, made.data
    run_config.output_data = made.output_data


def enter_inputs(run_config: RunConfiguration, inputs: Sequence[Any] | None) -> None:
    """Enter data that the script reads and finds without an argument."""
    for each in inputs or ():
        if isinstance(each, DataReference):
            run_config.data_references[each.data_reference_name] = each.to_config()
        elif isinstance(each, DatasetConsumptionConfig):
            run_config.data[each.name] = each.to_config()
        else:
            raise TrainingException(
                f"inputs holds data references and named datasets (dataset.as_named_input('name')), not {each!r}."
            )


def _job(options: Options) -> Job | None:
    if options.distributed_training is not None:
        if options.distributed_backend is not None:
            raise TrainingException("Give either distributed_training or the older distributed_backend, not both.")
        distribution.checked_job(options.distributed_training, options.jobs)
        return options.distributed_training
    if options.distributed_backend is None:
        return None
    job = distribution.job_of_backend(
        options.distributed_backend,
        options.backends,
        options.processes,
        options.worker_count,
        options.parameter_server_count,
    )
    distribution.checked_job(job, options.backends)
    return job


def _environment(run_config: RunConfiguration, options: Options) -> list[str]:
    definition = options.environment_definition
    if definition is not None:
        run_config.environment = definition
        run_config.docker = ScriptRunConfig(None, environment=definition).run_config.docker
        run_config.docker.shm_size = options.shm_size or run_config.docker.shm_size
        return []
    run_config.docker = DockerConfiguration(use_docker=bool(options.use_docker))
    run_config.docker.shm_size = options.shm_size or run_config.docker.shm_size
    docker = run_config.environment.docker
    if options.image or options.use_gpu:
        docker.base_image = options.image or DEFAULT_GPU_IMAGE
    docker._gpu_support = bool(options.use_gpu)  # its property is deprecated, and warns
    if options.image_registry_details is not None:
        docker.base_image_registry = options.image_registry_details
    return _python(run_config.environment, options)


def _python(environment: Environment, options: Options) -> list[str]:
    python = environment.python
    python.user_managed_dependencies = bool(options.user_managed)
    if options.user_managed:
        return []
    if options.conda_file:
        python.conda_dependencies = packages.from_file(options.source_directory, options.conda_file)
        return []
    pip = list(options.pip_packages or ())
    if options.pip_file:
        pip += packages.requirements(options.source_directory, options.pip_file)
    if options.framework is not None:
        environment.name = options.framework.environment
    python.conda_dependencies, remarks = packages.from_lists(list(options.conda_packages or ()), pip, options.framework)
    return remarks
