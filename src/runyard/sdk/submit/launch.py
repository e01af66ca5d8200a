"""What is started for a run configuration: the script or command, its arguments, its environment, its variables."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Mapping, Sequence

from runyard.contracts.compute import LOCAL_ENGINE
from runyard.contracts.distribution import Distribution
from runyard.contracts.environment import CONTAINER, CURRENT, Specification, specification_of
from runyard.contracts.plan import Launch
from runyard.sdk.exceptions import ExperimentExecutionException, UserErrorException
from runyard.sdk.submit.distribution import distribution_of
from runyard.sdk.submit.horovodrun import translate
from runyard.sdk.submit.placeholders import variable
from runyard.system.records import asdict, replace

if TYPE_CHECKING:
    from runyard.sdk.environment.environment import Environment
    from runyard.sdk.submit.runconfig import RunConfiguration

ON_DEMAND = ("amlcompute", "containerinstance")
"""Targets for which SDK v1 has Azure create a machine for one run."""
DEFAULT_INTERPRETER = "python"
ENVIRONMENT_PROPERTY = "runyard.environment"
OF_THE_SHELL = (
    *("PATH", "PYTHONPATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_DEFAULT_ENV"),
    *("CUDA_HOME", "CUDA_PATH", "CUDA_VISIBLE_DEVICES", "LANG", "LC_ALL", "TZ"),
)
"""Variables that a run on this machine takes from the submitter's shell: the server may have been started from another
one, long ago. Only search paths and the locale: the rest may hold secrets, and what is sent is stored."""


def launch_of(
    run_config: RunConfiguration,
    engine: str,
    inputs: Sequence[dict[str, Any]] = (),
    outputs: Sequence[dict[str, Any]] = (),
) -> dict[str, Any]:
    """The checked `runyard.contracts.plan.Launch` of a run configuration, as it is sent; `engine` is its target's,
    `inputs` and `outputs` are those of the modules of these names."""
    command = run_config.command
    if run_config.script and command:
        raise UserErrorException(
            f"The run has both a script ({run_config.script!r}) and a command ({str(command)!r}). Give one of them: a "
            "script with its arguments, or a command that says it all."
        )
    if not run_config.script and not command:
        raise UserErrorException("The run has neither a script nor a command. Give ScriptRunConfig one of them.")
    if command and run_config.arguments:
        raise UserErrorException("A command takes no arguments beside it: write them into the command itself.")
    if not run_config.target:
        raise ExperimentExecutionException("The run has no compute target. Set compute_target='local'.")
    distribution, variables = distribution_of(run_config), _variables(run_config)
    started: str | None = None
    if command:
        started, distribution, options = translate(str(command), distribution)
        variables = {**options, **variables}
    specification = specification_in(run_config.environment)
    launch = Launch(
        script=run_config.script or None,
        command=started,
        arguments=[variable(str(argument)) for argument in run_config.arguments or ()],
        interpreter=interpreter_for(specification, engine),
        environment_variables=variables,
        shell=shell_for(engine),
        environment=specification.as_dict(),
        container=_container(run_config) if specification.kind == CONTAINER else {},
        max_run_duration_seconds=run_config.max_run_duration_seconds or None,
        output_collection=bool(run_config.history.output_collection),
        directories_to_watch=[str(folder) for folder in run_config.history.directories_to_watch or ()],
        distribution=distribution.as_dict() if distribution != Distribution() else {},
        restarts=_restarts(run_config),
        inputs=list(inputs),
        outputs=list(outputs),
    )
    sent = asdict(launch)
    del sent["service"]  # replicas are the server's own runs
    return sent


def refuse_on_demand(run_config: RunConfiguration) -> None:
    """Runyard makes no machine for one run: a target that SDK v1 would have made on demand is refused."""
    if str(run_config.target).lower() in ON_DEMAND:
        size = run_config.amlcompute.vm_size
        raise UserErrorException(
            f"The target {run_config.target!r} asks for a machine that is made for this run alone, and Runyard makes "
            "none. Use compute_target='local', or make a cluster once and name it: ComputeTarget.create(ws, "
            f"'cpu-cluster', AmlCompute.provisioning_configuration(vm_size={size or ''!r}, max_nodes=4))."
        )


def environment_property(run_config: RunConfiguration, engine: str) -> str:
    """The environment that the run uses, for people."""
    environment = run_config.environment
    specification = specification_in(run_config.environment)
    if specification.kind != CURRENT:
        return f"{specification.kind}: {environment.name}"
    interpreter = interpreter_for(specification, engine)
    kind = "user-managed" if environment.python.user_managed_dependencies else "current interpreter"
    return f"{kind}: {interpreter}"


def specification_in(environment: Environment) -> Specification:
    """The environment's specification. An unchanged default environment means the Python that this code runs in."""
    if environment.is_untouched_default():
        return Specification(name=environment.name or "", user_managed=True)
    specification = specification_of(environment.to_dict())
    if specification.interpreter == DEFAULT_INTERPRETER:  # not a choice: it is what SDK v1 fills in
        specification = replace(specification, interpreter="")
    return specification


def interpreter_for(specification: Specification, engine: str) -> str:
    """The Python that runs the script where none is built: the one that this code runs in, unless another is named.

    A node of a cluster may not have it. Unless it was named, such a node uses its own `python3` instead.
    """
    given = specification.interpreter
    if specification.kind != CURRENT:
        return given or DEFAULT_INTERPRETER
    if not given:
        return sys.executable
    if engine == LOCAL_ENGINE and not _can_be_run(given):
        raise UserErrorException(
            f"There is no Python at {given!r} (environment.python.interpreter_path), or it cannot be run. Give the "
            "path of an interpreter, such as /home/me/venv/bin/python."
        )
    return str(Path(given).expanduser()) if given.startswith("~") else given


def _can_be_run(interpreter: str) -> bool:
    if os.path.dirname(interpreter):  # a path: nothing has to be looked for
        return os.path.isfile(interpreter) and os.access(interpreter, os.X_OK)
    import shutil

    return shutil.which(interpreter) is not None


def _container(run_config: RunConfiguration) -> dict[str, Any]:
    docker = run_config.docker
    gpu = run_config.environment.docker.gpu_support
    return {"arguments": [str(each) for each in docker.arguments or ()], "shm_size": docker.shm_size, "gpu": bool(gpu)}


def shell_for(engine: str) -> dict[str, str]:
    """What a run on this machine takes from the shell of this process."""
    if engine != LOCAL_ENGINE:
        return {}
    return {name: os.environ[name] for name in OF_THE_SHELL if name in os.environ}


def _restarts(run_config: RunConfiguration) -> int:
    restarts = run_config.runyard.restarts
    if isinstance(restarts, bool) or not isinstance(restarts, int) or restarts < 0:
        raise UserErrorException(f"run_config.runyard.restarts must be a whole number from 0 on, not {restarts!r}.")
    return restarts


def _variables(run_config: RunConfiguration) -> dict[str, str]:
    return {**variables_in(run_config.environment), **_checked(run_config.environment_variables)}


def variables_in(environment: Environment) -> dict[str, str]:
    """The variables that an environment sets. SDK v1's example is none."""
    from runyard.sdk.environment.environment import EXAMPLE_VARIABLES

    wanted = environment.environment_variables or {}
    return _checked(wanted if wanted != EXAMPLE_VARIABLES else {})


def _checked(wanted: Mapping[str, object]) -> dict[str, str]:
    variables: dict[str, str] = {}
    for name, value in wanted.items():
        if not name or "=" in name or "\0" in f"{name}{value}":
            raise UserErrorException(f"{name!r} is no name for an environment variable (or its value holds a NUL).")
        variables[str(name)] = str(value)
    return variables
