"""`Estimator`: a script with its packages, its image and its nodes in one call. SDK v1's older form of a
ScriptRunConfig; it becomes a run configuration, and is submitted like any other."""

from __future__ import annotations

import copy
import os
import warnings
from typing import TYPE_CHECKING, Any, Mapping, Sequence

from runyard.sdk.environment.conda_dependencies import CondaDependencies
from runyard.sdk.estimator.run_config import (
    MMLBaseEstimatorRunConfig,
    Options,
    arguments_of,
    enter_inputs,
    store_name,
)
from runyard.sdk.exceptions import TrainingException
from runyard.sdk.submit import submit
from runyard.sdk.submit.runconfig import RunConfiguration
from runyard.sdk.submit.script_run_config import ScriptRunConfig

if TYPE_CHECKING:
    from runyard.sdk.compute.compute import ComputeTarget
    from runyard.sdk.compute.legacy import AbstractComputeTarget
    from runyard.sdk.data.data_reference import DataReference
    from runyard.sdk.data.datapath import DataPath
    from runyard.sdk.data.dataset_consumption import DatasetConsumptionConfig
    from runyard.sdk.environment.container_registry import ContainerRegistry
    from runyard.sdk.environment.environment import Environment
    from runyard.sdk.estimator.distribution import Job
    from runyard.sdk.experiment import Experiment
    from runyard.sdk.submit.script_run import ScriptRun

AT_SUBMIT = ("script_params", "inputs", "source_directory_data_store")
"""What can be given again when an estimator is submitted."""


class MMLBaseEstimator:
    """What all estimators are: a source folder and a run configuration."""

    def __init__(
        self,
        source_directory: str | os.PathLike[str] | None,
        *,
        compute_target: str | AbstractComputeTarget | ComputeTarget,
        estimator_config: RunConfiguration | None = None,
    ) -> None:
        _warn_of_age(type(self))
        self._options = Options(folder_of(source_directory))
        self._run_config = estimator_config or MMLBaseEstimatorRunConfig(compute_target)
        self._run_config.target = compute_target

    @property
    def run_config(self) -> RunConfiguration:
        """How and where the script runs. What is changed here counts when the estimator is submitted."""
        return self._run_config

    @property
    def source_directory(self) -> str:
        return self._options.source_directory

    @property
    def conda_dependencies(self) -> CondaDependencies:
        return self._run_config.environment.python.conda_dependencies

    def __repr__(self) -> str:
        config = self._run_config
        return (
            f"{type(self).__name__}(source_directory={self.source_directory!r}, entry_script={config.script!r}, "
            f"arguments={config.arguments!r}, target={config.target!r})"
        )

    def _become(self, options: Options, above: int = 0) -> None:
        """The whole of a constructor. Warnings point at the line that called it, `above` calls further up."""
        _warn_of_age(type(self), stacklevel=4 + above)
        config, remarks = MMLBaseEstimatorRunConfig.of(options)
        for remark in remarks:
            warnings.warn(remark, stacklevel=3 + above)
        self._options, self._run_config = options, config

    def _at_submit(
        self,
        script_params: Mapping[str, Any] | None = None,
        inputs: Sequence[Any] | None = None,
        source_directory_data_store: Any = None,
    ) -> ScriptRunConfig:
        """What is submitted: a copy with the new values. Earlier parameters stay beside new ones."""
        made = copy.deepcopy(self._run_config)
        enter_inputs(made, inputs)
        if source_directory_data_store is not None:
            made.source_directory_data_store = store_name(source_directory_data_store)
        if not script_params:
            return ScriptRunConfig(self.source_directory, run_config=made)
        first = self._options.script_params
        if first is None:
            arguments = [*made.arguments, *arguments_of(script_params)]
            return ScriptRunConfig(self.source_directory, run_config=made, arguments=arguments)
        arguments = arguments_of({**first, **script_params})
        resume_from = self._options.resume_from
        return ScriptRunConfig(self.source_directory, run_config=made, arguments=arguments, resume_from=resume_from)


class Estimator(MMLBaseEstimator):
    """An estimator for any script.

    >>> estimator = Estimator(".", compute_target="local", entry_script="train.py", script_params={"--lr": 0.1})
    >>> estimator.run_config.arguments
    ['--lr', 0.1]

    Deprecated in SDK v1 in favour of ScriptRunConfig, and goes on working.
    """

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
    ) -> None:
        self._become(options_of(locals()))


def options_of(given: Mapping[str, Any], **own: Any) -> Options:
    """The parameters of a constructor (its `locals()`) as options."""
    named = {name: value for name, value in given.items() if name in Options.__dataclass_fields__}
    return Options(**{**named, **own, "source_directory": folder_of(given["source_directory"])})


def folder_of(source_directory: str | os.PathLike[str] | None) -> str:
    return "." if source_directory is None else os.fspath(source_directory)


def submit_estimator(
    experiment: Experiment, estimator: MMLBaseEstimator, tags: Mapping[str, object] | None = None, **kwargs: Any
) -> ScriptRun:
    """Submit an estimator as a script run."""
    unknown = [name for name in kwargs if name not in AT_SUBMIT]
    if unknown:
        raise TrainingException(
            f"An estimator cannot be submitted with {', '.join(unknown)}. Beside tags it takes {', '.join(AT_SUBMIT)}."
        )
    config = estimator._at_submit(**kwargs)
    if not config.script and not config.command:
        raise TrainingException(f"The {type(estimator).__name__} has no entry_script. Give it the script to run.")
    return submit.submit_script(experiment, config, tags)


submit.register(MMLBaseEstimator, submit_estimator)


def _warn_of_age(kind: type, stacklevel: int = 3) -> None:
    warnings.warn(
        f"{kind.__name__} is deprecated in SDK v1. It goes on working; new code says the same with ScriptRunConfig.",
        DeprecationWarning,
        stacklevel=stacklevel,
    )
