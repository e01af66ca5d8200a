"""Submitting: from a configuration to a run in the server's queue. Everything that can be wrong is checked first."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Mapping, cast

from runyard.contracts import names
from runyard.contracts.manifest import SNAPSHOT_PROPERTY
from runyard.sdk.compute.engines import engine_of
from runyard.sdk.exceptions import AzureMLException, ExperimentExecutionException, UserErrorException
from runyard.sdk.labels import checked_labels
from runyard.sdk.snapshot.snapshot import with_snapshot
from runyard.sdk.submit.git import git_properties
from runyard.sdk.submit.launch import ENVIRONMENT_PROPERTY, environment_property, launch_of, refuse_on_demand
from runyard.sdk.submit.run_request import SCRIPT_TYPE, make_run

if TYPE_CHECKING:
    from runyard.contracts.documents import RunDocument
    from runyard.contracts.sweeps.sweep import Sweep
    from runyard.sdk.experiment import Experiment
    from runyard.sdk.run.run import Run
    from runyard.sdk.submit.runconfig import RunConfiguration
    from runyard.sdk.submit.script_run import ScriptRun
    from runyard.sdk.submit.script_run_config import ScriptRunConfig
    from runyard.sdk.workspace.workspace import Workspace

SWEEP_TYPE = "hyperdrive"

Submitter = Callable[..., Any]

_submitters: dict[type, Submitter] = {}


def register(config_class: type, submitter: Submitter) -> None:
    """Register a submitter: configurations of this class are submitted with `submitter(experiment, config, tags)`."""
    _submitters[config_class] = submitter


def submit_config(experiment: Experiment, config: object, tags: Mapping[str, object] | None, **kwargs: Any) -> Run:
    """Submit a configuration of any registered class."""
    from runyard.sdk.submit.script_run_config import ScriptRunConfig

    if isinstance(config, ScriptRunConfig):
        return submit_script(experiment, config, tags, **kwargs)
    for kind in type(config).__mro__:
        if kind in _submitters:
            return cast("Run", _submitters[kind](experiment, config, tags, **kwargs))
    raise AzureMLException(
        f"An object of the class {type(config).__name__} cannot be submitted. Submit a ScriptRunConfig: "
        "experiment.submit(ScriptRunConfig(source_directory='.', script='train.py'))."
    )


def submit(
    script_run_config: ScriptRunConfig,
    workspace: Workspace,
    experiment_name: str,
    run_id: str | None = None,
    credential_passthrough: bool = False,
) -> ScriptRun:
    """Submit to an experiment by its name."""
    from runyard.sdk.experiment import Experiment

    return submit_script(Experiment(workspace, experiment_name), script_run_config, None, run_id=run_id)


def submit_script(
    experiment: Experiment,
    config: ScriptRunConfig,
    tags: Mapping[str, object] | None = None,
    *,
    run_id: str | None = None,
    parent_id: str | None = None,
    display_name: str | None = None,
    credential_passthrough: bool = False,
    _run_type: str | None = None,
) -> ScriptRun:
    """Check, take the snapshot, collect the git properties, and put the run in the queue."""
    from runyard.sdk.submit.script_run import ScriptRun

    document = submitted(
        experiment.workspace,
        experiment.name,
        config,
        tags,
        run_id=run_id,
        parent_id=parent_id,
        display_name=display_name,
        run_type=_run_type,
    )
    _remember_outputs(experiment.workspace, config, document["id"])
    return ScriptRun(experiment, document["id"], directory=str(_folder(config.source_directory)), _document=document)


def submitted(
    workspace: Workspace,
    experiment: str,
    config: ScriptRunConfig,
    tags: Mapping[str, object] | None = None,
    *,
    run_id: str | None = None,
    parent_id: str | None = None,
    display_name: str | None = None,
    run_type: str | None = None,
    sweep: Sweep | None = None,
) -> RunDocument:
    """The run of a script, or with `sweep` the parent of many, as the server has it. `experiment` is made with its
    first run."""
    from runyard.sdk.submit.script_run_config import get_run_config_from_script_run

    _check_name("experiment", experiment)
    run_config = get_run_config_from_script_run(config)
    folder = _folder(config.source_directory)
    if run_config.script:
        run_config.script = _script(folder, run_config)
    refuse_on_demand(run_config)
    engine = engine_of(workspace, run_config.target)
    inputs, outputs = _data(run_config, workspace)
    launch = launch_of(run_config, engine, inputs, outputs)
    checked_tags = checked_labels("tags", tags or {}, none_allowed=True)
    chosen = run_id is not None
    if run_id is not None:
        _check_name("run", run_id)
    service = workspace.service
    properties: dict[str, str] = {ENVIRONMENT_PROPERTY: environment_property(run_config, engine)}
    properties.update(git_properties(folder))
    wanted: dict[str, Any] = {
        "workspace": workspace.name,
        "experiment": experiment,
        "run_id": run_id or names.submitted_run(experiment),
        "kind": "script",
        "type": run_type or SCRIPT_TYPE,
        "parent_id": parent_id,
        "display_name": display_name,
        "tags": checked_tags,
        "properties": properties,
        "target": run_config.target,
        "definition": run_config.to_dict(),
        "launch": launch,
    }
    if sweep is not None:
        wanted = _as_sweep(wanted, sweep, properties, chosen)

    def make(snapshot_id: str, sent: bool) -> RunDocument:
        properties[SNAPSHOT_PROPERTY] = snapshot_id
        wanted["properties"][SNAPSHOT_PROPERTY] = snapshot_id
        request = {**wanted, "snapshot_id": snapshot_id}
        return workspace._made_for(lambda: make_run(service, request, chosen, whole_snapshot=not sent))

    if run_config.history.snapshot_project:
        return with_snapshot(service, folder, make)
    return workspace._made_for(lambda: make_run(service, wanted, chosen))


def _as_sweep(wanted: dict[str, Any], sweep: Sweep, properties: dict[str, str], chosen: bool) -> dict[str, Any]:
    """The request for the parent of many runs. `properties` are those of each child; the snapshot is still missing."""
    import json
    from uuid import uuid4

    own = {
        "primary_metric_config": json.dumps({"name": sweep.metric, "goal": sweep.goal}),
        "resume_from": json.dumps(sweep.resume_from or None),
        "runTemplate": "HyperDrive",
        "azureml.runsource": "hyperdrive",
        "platform": "AML",
    }
    return {
        **wanted,
        "run_id": wanted["run_id"] if chosen else f"HD_{uuid4()}",
        "kind": "sweep",
        "type": SWEEP_TYPE,
        "properties": own,
        "sweep": {**sweep.as_request(), "child_properties": properties},
    }


def _remember_outputs(workspace: Workspace, config: ScriptRunConfig, run_id: str) -> None:
    """Let the outputs that a run was given know the run, so that they can be inputs of another one."""
    command = config.command if isinstance(config.command, (list, tuple)) else ()
    given = [*(config.arguments or ()), *command, *(config.run_config.output_data or {}).values()]
    if not all(isinstance(each, (str, int, float)) for each in given):
        from runyard.sdk.data.output_dataset_config import OutputFileDatasetConfig

        for each in given:
            if isinstance(each, OutputFileDatasetConfig):
                each.submitted_as(workspace, run_id)


def _data(run_config: RunConfiguration, workspace: Workspace) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The inputs and outputs of a run. Nothing of them is loaded for a run that has none."""
    if not (run_config.data or run_config.data_references or run_config.output_data):
        return [], []
    from runyard.sdk.submit.inputs import inputs_of
    from runyard.sdk.submit.outputs import outputs_of

    return inputs_of(run_config, workspace), outputs_of(run_config)


def _folder(source_directory: str | os.PathLike[str] | None) -> Path:
    folder = Path(source_directory) if source_directory is not None else Path()
    if not folder.is_dir():
        raise UserErrorException(
            f"The source_directory {str(source_directory)!r} is no folder (looked for at {folder.absolute()})."
        )
    return folder.absolute()


def _script(folder: Path, run_config: RunConfiguration) -> str:
    """The script's path in the folder, with '/'; it must exist, and must be part of the snapshot."""
    from runyard.sdk.snapshot.ignore import ignored_by

    given = Path(str(run_config.script))
    place = folder / given
    if not place.is_file():
        raise ExperimentExecutionException(
            f"There is no script {str(given)!r} in {folder} (looked for at {place}). {contents(folder)}"
        )
    try:
        below = os.path.relpath(place, folder) if given.is_absolute() else os.path.normpath(given)
        name = names.check_file(below)
    except names.BadName:
        raise ExperimentExecutionException(
            f"The script {str(given)!r} lies outside the source_directory {folder}. Move it there, or name a folder "
            "that holds both."
        ) from None
    ignored = ignored_by(folder)
    above = name.split("/")
    left_out = next((part for part in _prefixes(above) if ignored(part)), None)
    if run_config.history.snapshot_project and left_out is not None:
        raise ExperimentExecutionException(
            f"The script {name!r} would not be in the snapshot: .amlignore (or .gitignore) in {folder} leaves out "
            f"{left_out!r}. Take the line away, or put `!{name}` after it."
        )
    return name


def _prefixes(parts: list[str]) -> list[str]:
    return ["/".join(parts[:length]) + "/" for length in range(1, len(parts))] + ["/".join(parts)]


def contents(folder: Path) -> str:
    """What a folder holds, for the message that something is not in it."""
    held = sorted(entry.name + ("/" if entry.is_dir() else "") for entry in os.scandir(folder))
    if not held:
        return "The folder is empty."
    shown = ", ".join(held[:15]) + (f" and {len(held) - 15} more" if len(held) > 15 else "")
    return f"The folder holds: {shown}."


def _check_name(kind: str, name: str) -> None:
    try:
        names.check(kind, name)
    except names.BadName as error:
        raise UserErrorException(str(error), inner_exception=error) from None
