"""A script, the folder around it, and the configuration it runs with: what `Experiment.submit` takes."""

from __future__ import annotations

import copy
import os
import warnings
from typing import TYPE_CHECKING, Any, Union

from runyard.sdk.data.datapath import DataPath, DataPathComputeBinding
from runyard.sdk.exceptions import RunConfigurationException, UserErrorException
from runyard.sdk.submit.data_sections import entered
from runyard.sdk.submit.distributed import (
    MpiConfiguration,
    PlainConfiguration,
    PyTorchConfiguration,
    TensorflowConfiguration,
)
from runyard.sdk.submit.placeholders import variable
from runyard.sdk.submit.runconfig import DockerConfiguration, RunConfiguration

if TYPE_CHECKING:
    from runyard.sdk.compute.compute import ComputeTarget
    from runyard.sdk.compute.legacy import AbstractComputeTarget
    from runyard.sdk.environment.environment import Environment
    from runyard.sdk.submit.script_run import ScriptRun
    from runyard.sdk.workspace.workspace import Workspace

DistributedJob = Union[MpiConfiguration, PyTorchConfiguration, TensorflowConfiguration, PlainConfiguration]
BACKENDS = ("nccl", "gloo")
MODEL_LOCATION = "MODEL_LOCATION"


class ScriptRunConfig:
    """What to run, and how.

    >>> config = ScriptRunConfig(".", script="train.py", arguments=["--lr", 0.1], compute_target="local")
    >>> config.run_config.target
    'local'

    The parameters fill in a new run configuration. When `run_config` is given it is used instead: `script`, `arguments`
    and `command` still win over its own, all others are ignored with a warning.
    """

    MAX_DURATION_SECONDS_DEFAULT = 30 * 24 * 60 * 60

    def __init__(
        self,
        source_directory: str | os.PathLike[str] | None,
        script: str | None = None,
        arguments: list[Any] | None = None,
        run_config: RunConfiguration | None = None,
        compute_target: str | AbstractComputeTarget | ComputeTarget | None = None,
        environment: Environment | None = None,
        distributed_job_config: DistributedJob | None = None,
        resume_from: DataPath | None = None,
        max_run_duration_seconds: int | None = MAX_DURATION_SECONDS_DEFAULT,
        command: str | list[str] | None = None,
        docker_runtime_config: DockerConfiguration | None = None,
    ) -> None:
        if docker_runtime_config and not isinstance(docker_runtime_config, DockerConfiguration):
            raise UserErrorException(
                f"docker_runtime_config must be a DockerConfiguration, not a {type(docker_runtime_config).__name__}."
            )
        if arguments is not None and not isinstance(arguments, (list, tuple)):
            given = f"the text {arguments!r}" if isinstance(arguments, str) else f"a {type(arguments).__name__}"
            raise UserErrorException(f"arguments is a list such as ['--lr', 0.1], not {given}.")
        self.source_directory = source_directory
        if run_config is not None:
            _warn_of_unused(
                compute_target=compute_target,
                environment=environment,
                distributed_job_config=distributed_job_config,
                max_run_duration_seconds=(
                    None if max_run_duration_seconds == self.MAX_DURATION_SECONDS_DEFAULT else max_run_duration_seconds
                ),
                docker_runtime_config=docker_runtime_config,
            )
            self.run_config = run_config
        else:
            self.run_config = RunConfiguration()
            self.run_config.max_run_duration_seconds = max_run_duration_seconds
            if compute_target is not None:
                self.run_config.target = compute_target
            if environment is not None:
                self.run_config.environment = environment
            if distributed_job_config is not None:
                distribute(self.run_config, distributed_job_config)
            self.run_config.docker = docker_runtime_config or _docker_of(self.run_config.environment)
        self.script = script or self.run_config.script
        self.command = command or self.run_config.command
        self.arguments = list(arguments or self.run_config.arguments or ())
        if resume_from is not None:
            self._resume_from(resume_from)

    def _resume_from(self, path: DataPath) -> None:
        if not isinstance(path, DataPath):
            raise UserErrorException(f"resume_from must be a DataPath, not a {type(path).__name__}.")
        reference = path.create_data_reference(MODEL_LOCATION, DataPathComputeBinding("mount"))
        self.run_config.data_references[MODEL_LOCATION] = reference.to_config()
        self.arguments += ["--resume-from", str(reference)]

    def __repr__(self) -> str:
        what = f"script={self.script!r}" if self.script else f"command={self.command!r}"
        return (
            f"ScriptRunConfig(source_directory={self.source_directory!r}, {what}, arguments={self.arguments!r}, "
            f"target={self.run_config.target!r})"
        )


def distribute(run_config: RunConfiguration, job: DistributedJob) -> None:
    """Make a run configuration that of a distributed job."""
    if isinstance(job, MpiConfiguration):
        run_config.mpi = job
        run_config.framework, run_config.communicator = "Python", "IntelMpi"
        run_config.node_count = job.node_count
    elif isinstance(job, PyTorchConfiguration):
        backend = str(job.communication_backend).lower()
        if backend not in BACKENDS:
            raise RunConfigurationException(
                f"{job.communication_backend!r} is no backend of a PyTorch job: use one of {', '.join(BACKENDS)}."
            )
        run_config.pytorch = job
        run_config.framework, run_config.communicator = "PyTorch", backend
        run_config.node_count = job.node_count
    elif isinstance(job, TensorflowConfiguration):
        run_config.tensorflow = job
        run_config.framework, run_config.communicator = "TensorFlow", "ParameterServer"
        run_config.node_count = job.worker_count
    elif isinstance(job, PlainConfiguration):
        run_config.runyard.process_count_per_node = job.process_count_per_node
        run_config.framework, run_config.communicator = "Python", "None"
        run_config.node_count = job.node_count
    else:
        raise RunConfigurationException(
            "distributed_job_config must be an MpiConfiguration, a PyTorchConfiguration, a TensorflowConfiguration or "
            f"a PlainConfiguration (runyard.sdk.submit.distributed), not a {type(job).__name__}."
        )


def get_run_config_from_script_run(script_run_config: ScriptRunConfig) -> RunConfiguration:
    """The run configuration as it is submitted: a copy with the script, arguments and command of the whole.

    Data references among the arguments are entered under `data_references`, and become the variable with their path
    in the arguments; datasets are entered under `data`, outputs under `output_data`. A command given as a
    list is joined with blanks.
    """
    made = copy.deepcopy(script_run_config.run_config)
    made.script = script_run_config.script
    command = script_run_config.command
    made.command = " ".join(_part(made, each) for each in command) if isinstance(command, (list, tuple)) else command
    made.arguments = [entered(made, each) for each in script_run_config.arguments or ()]
    return made


def submit(
    script_run_config: ScriptRunConfig,
    workspace: Workspace,
    experiment_name: str,
    run_id: str | None = None,
    credential_passthrough: bool = False,
) -> ScriptRun:
    """Submit to an experiment by its name. `Experiment.submit` does the same."""
    from runyard.sdk.submit import submit as submitting

    return submitting.submit(
        script_run_config, workspace, experiment_name, run_id=run_id, credential_passthrough=credential_passthrough
    )


def _part(run_config: RunConfiguration, part: object) -> str:
    """A part of a command, which a shell takes apart: data in it becomes the variable with its path."""
    made = str(entered(run_config, part))
    return made if variable(made) == made else f'"{variable(made)}"'


def _docker_of(environment: Environment) -> DockerConfiguration:
    docker = environment.docker
    return DockerConfiguration(docker.enabled, docker.shared_volumes, list(docker.arguments), docker.shm_size)


def _warn_of_unused(**given: object) -> None:
    unused = [name for name, value in given.items() if value]
    if unused:
        warnings.warn(
            f"{', '.join(unused)}: not used, because run_config is given. Set it on the run_config.", stacklevel=3
        )
