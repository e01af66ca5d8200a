"""Compute targets as SDK v1 had them before workspaces: of these only this machine is left."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Mapping

from runyard.sdk.exceptions import ComputeTargetException, UserErrorException

if TYPE_CHECKING:
    from runyard.sdk.experiment import Experiment
    from runyard.sdk.submit.runconfig import RunConfiguration
    from runyard.sdk.submit.script_run import ScriptRun

INSTEAD = (
    "Make one in the workspace: ComputeTarget.create(ws, name, AmlCompute.provisioning_configuration(max_nodes=4)); or "
    "attach a cluster: ComputeTarget.attach(ws, name, RayCompute.attach_configuration(address='head:6379')), "
    "SlurmCompute.attach_configuration(partition='gpu')."
)


class AbstractComputeTarget:
    """A compute target with a type and a name."""

    def __init__(self, compute_target_type: str, name: str) -> None:
        self._type = compute_target_type
        self._name = name

    @property
    def type(self) -> str:
        return self._type

    @property
    def name(self) -> str:
        return self._name

    @staticmethod
    def deserialize_from_dict(
        compute_target_name: str, compute_target_dict: Mapping[str, Any]
    ) -> AbstractComputeTarget:
        """The target that a dictionary with a `type` describes."""
        kind = compute_target_dict.get("type")
        if kind != LocalTarget.TYPE:
            raise ComputeTargetException(
                f"The compute target {compute_target_name!r} is of type {kind!r}. Outside a workspace Runyard knows "
                f"only {LocalTarget.TYPE!r}. {INSTEAD}"
            )
        return LocalTarget()

    def __repr__(self) -> str:
        return f"{type(self).__name__}(name={self._name!r}, type={self._type!r})"


class LocalTarget(AbstractComputeTarget):
    """The machine that the server runs on."""

    TYPE = "local"

    def __init__(self) -> None:
        super().__init__(self.TYPE, "local")


def attach_legacy_compute_target(
    experiment: Experiment, source_directory: str | os.PathLike[str], compute_target: AbstractComputeTarget
) -> None:
    """Nothing for this machine, which always exists; other targets belong to a workspace."""
    if not isinstance(compute_target, LocalTarget):
        raise ComputeTargetException(f"{compute_target!r} cannot be attached to a folder. {INSTEAD}")


def remove_legacy_compute_target(
    experiment: Experiment, source_directory: str | os.PathLike[str], compute_target_name: str
) -> None:
    """Refused: no folder has a target attached to it."""
    raise ComputeTargetException(
        f"No compute target {compute_target_name!r} is attached to the folder {str(source_directory)!r}: targets "
        f"belong to the workspace. ComputeTarget(ws, {compute_target_name!r}).delete() removes one from there."
    )


def is_compute_target_prepared(
    experiment: Experiment, source_directory: str | os.PathLike[str], run_config: RunConfiguration
) -> bool:
    """Whether there is nothing to prepare, because the environment is an existing interpreter.

    Otherwise False: `prepare_compute_target` finds out, at almost no cost where everything is ready.
    """
    environment = run_config.environment
    return environment.is_untouched_default() or bool(environment.python.user_managed_dependencies)


def prepare_compute_target(
    experiment: Experiment, source_directory: str | os.PathLike[str], run_config: RunConfiguration
) -> ScriptRun:
    """Build the environment of a run configuration on its target, with a run that does nothing else."""
    from runyard.sdk.submit.script_run_config import ScriptRunConfig
    from runyard.sdk.submit.submit import submit_script

    if not run_config.target:
        raise UserErrorException("The run configuration has no compute target to prepare. Set its target.")
    import tempfile

    with tempfile.TemporaryDirectory(prefix="runyard-prepare-") as empty:
        config = ScriptRunConfig(
            empty, command=":", compute_target=run_config.target, environment=run_config.environment
        )
        config.run_config.docker = run_config.docker
        config.run_config.history.snapshot_project = False
        config.run_config.history.output_collection = False
        return submit_script(experiment, config, display_name=f"prepare {run_config.target}")
