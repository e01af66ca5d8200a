"""The request that makes a run: its form, the rules that it must follow, and storing the run.

`make` is the one way in. The steps are in the order in which they refuse: first what the request alone shows, then
what the caller may do, then what the database and the engine know.
"""

from __future__ import annotations

import functools
import getpass
import os
import uuid
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue
from sqlalchemy import Connection

from runyard.contracts import names, states
from runyard.contracts.compute import LOCAL, RESTARTS, Target
from runyard.contracts.data import datasets, seen
from runyard.contracts.data.outputs import DEFAULT_DATASTORE, DEFAULT_PATH, Output
from runyard.contracts.distribution import BadDistribution, Distribution
from runyard.contracts.secrets import veil
from runyard.server.context import ServerContext
from runyard.server.middleware import reach
from runyard.server.middleware.auth import Caller
from runyard.server.middleware.problems import Problem
from runyard.server.requests import named_secrets, run_environment
from runyard.server.requests import sweep as sweep_request
from runyard.server.requests.definitions import storing
from runyard.server.requests.sweep import SweepRequest
from runyard.server.responses.documents import Json
from runyard.store.assets import compute, sweeps
from runyard.store.content import snapshots
from runyard.store.content.secrets import Secrets
from runyard.store.runs import experiments, family, runs
from runyard.store.runs.labels import SUBMITTED_FROM
from runyard.store.runs.records import SWEEP
from runyard.store.runs.runs import SCRIPT, NewRun, Run

Label = Annotated[str, Field(pattern=r"^[\x20-\x7e]{1,255}$")]
"""A short text of programs, such as the type of a run."""

SUBMITTED = (SCRIPT, SWEEP)
"""Kinds of runs that the server starts."""


class DistributionRequest(BaseModel):
    """`runyard.contracts.distribution.Distribution`, as a client sends it."""

    model_config = ConfigDict(extra="forbid")

    kind: str = "plain"
    nodes: int = 1
    processes: int = 0
    backend: str = ""
    workers: int = 0
    parameter_servers: int = 0


class InputRequest(BaseModel):
    """A dataset that a run reads."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(pattern=r"^[a-zA-Z0-9_]{1,255}$")
    dataset: str
    mode: Literal["direct", "download", "mount"] = "mount"
    path_on_compute: str | None = None


class RegistrationRequest(BaseModel):
    """The dataset that an output becomes when its run has completed."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(min_length=1, max_length=255)
    description: str | None = None
    tags: dict[str, str] = {}


class OutputRequest(BaseModel):
    """`runyard.contracts.data.outputs.Output`: data that a run writes."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(pattern=r"^[a-zA-Z0-9_]{1,255}$")
    datastore: str = DEFAULT_DATASTORE
    path: str = Field(DEFAULT_PATH, max_length=4096)
    mode: Literal["mount", "upload"] = "mount"
    path_on_compute: str | None = None
    overwrite: bool = False
    globs: list[str] = Field([], max_length=1000)
    registration: RegistrationRequest | None = None
    definition: dict[str, JsonValue] | None = None


class LaunchRequest(BaseModel):
    """`runyard.contracts.plan.Launch`, as a client sends it."""

    model_config = ConfigDict(extra="forbid")

    script: str | None = None
    command: str | None = None
    arguments: list[str] = []
    interpreter: str = "python"
    environment_variables: dict[str, str] = {}
    max_run_duration_seconds: int | None = Field(None, gt=0, lt=2**31)
    output_collection: bool = True
    directories_to_watch: list[str] = ["logs"]
    shell: dict[str, str] = {}
    environment: dict[str, JsonValue] = {}
    container: dict[str, JsonValue] = {}
    notes: list[str] = []  # the server writes them, whatever is sent
    distribution: DistributionRequest = DistributionRequest()
    inputs: list[InputRequest] = Field([], max_length=1000)
    outputs: list[OutputRequest] = Field([], max_length=1000)
    restarts: int = Field(RESTARTS, ge=0, le=100)


class RunRequest(BaseModel):
    """`script` runs are queued, the children of a `sweep` are made by the scheduler; `interactive` and `child` runs are
    led by the process that makes them."""

    model_config = ConfigDict(extra="forbid")

    workspace: str | None = None
    experiment: str | None = None
    run_id: str | None = None
    kind: Literal["script", "sweep", "interactive", "child"] = "script"
    type: Label = "azureml.scriptrun"
    parent_id: str | None = None
    name: str | None = None
    display_name: str | None = None
    description: str | None = None
    tags: dict[str, str | None] = {}
    properties: dict[str, str | None] = {}
    target: Label = "local"
    snapshot_id: str | None = Field(None, pattern="^[0-9a-f]{64}$")
    definition: dict[str, JsonValue] = {}
    launch: LaunchRequest | None = None
    sweep: SweepRequest | None = None
    start: bool = True


def make(context: ServerContext, caller: Caller, request: RunRequest, whole_snapshot: bool = False) -> Run:
    """Check a request and store its run; the scheduler is not informed of it yet. `whole_snapshot`: refuse a snapshot
    of which the last run found something missing."""
    _check_form(request)
    if request.parent_id is not None:
        reach.must_write(context, caller, request.parent_id)
    else:
        reach.must_be_within(context, caller, request.workspace)
    if request.launch is not None:
        named_secrets.check(context, caller, request.launch.model_dump())
    if request.kind in SUBMITTED:
        _check_target(context, request)
    if request.sweep is not None:
        for former in (*request.sweep.resume_from, *request.sweep.resume_children):
            reach.must_read(context, caller, former)
        seeded = sweep_request.checked(request.sweep, caller)
        request = request.model_copy(update={"sweep": request.sweep.model_copy(update=seeded.as_request())})
    return store(context, request, caller.run_id, whole_snapshot)


def store(context: ServerContext, request: RunRequest, by: str | None = None, whole_snapshot: bool = False) -> Run:
    """Store the run of a request that was checked, made by the run `by` or by the user."""
    masked = _without_secrets(request, context.secrets)
    with context.store.database.write() as connection:
        if whole_snapshot and request.snapshot_id is not None:
            _check_snapshot(connection, request.snapshot_id)
        return _create(connection, masked, by)


def _check_form(request: RunRequest) -> None:
    """Refuse what can be seen to be wrong without the database."""
    for run_id in (request.run_id, request.parent_id):
        if run_id is not None:
            names.check("run", run_id)
    if request.parent_id is None and not (request.workspace and request.experiment):
        raise invalid("The request names no workspace and experiment.", "Send both, or a `parent_id`.")
    if request.kind == "child" and request.parent_id is None:
        raise invalid("A child run needs a parent.", "Send `parent_id`, or the kind 'interactive'.")
    if request.kind == "interactive" and request.parent_id is not None:
        raise invalid("An interactive run has no parent.", "Use the kind 'child' to make a run below another one.")
    if request.kind in SUBMITTED:
        _check_launch(request.launch)
    if (request.kind == SWEEP) != (request.sweep is not None):
        raise invalid("A run of the kind 'sweep' has `sweep`, and no other run has.", "Send both, or neither.")


def _check_data(launch: LaunchRequest) -> None:
    named = [each.name for each in launch.inputs] + [each.name for each in launch.outputs]
    twice = {name for name in named if named.count(name) > 1} if len(set(named)) < len(named) else set()
    if twice:
        raise invalid(f"Two inputs or outputs of the run are called {min(twice)!r}.", "Each needs a name of its own.")
    for each in launch.outputs:
        try:
            datasets.parse(Output.from_dict(each.model_dump()).dataset("run"))
            if each.registration is not None:
                datasets.check_name(each.registration.name)
        except datasets.BadDefinition as error:
            raise invalid(f"The output {each.name!r}: {error.message}", error.help) from None


def _check_launch(launch: LaunchRequest | None) -> None:
    if launch is None:
        raise invalid("A script run needs `launch`.", "It says which script or command to start.")
    if bool(launch.script) == bool(launch.command):
        given = "both a script and a command" if launch.script else "neither a script nor a command"
        raise invalid(f"The run has {given}.", "Set exactly one of them.")
    if launch.script is not None:
        names.check_file(launch.script)
    run_environment.check(launch.environment)
    _check_data(launch)
    try:
        _distribution(launch).check()
    except BadDistribution as error:
        raise invalid(str(error), "`launch.distribution` says how the run becomes many processes.") from error


def _check_target(context: ServerContext, request: RunRequest) -> None:
    """Refuse a target that is not there, and a run that asks for more nodes than it can ever have."""
    nodes = _nodes_of(request)
    if request.target == LOCAL and nodes <= 1:
        return
    with context.store.database.look() as connection:
        workspace, target = _target_of(connection, request)
    if nodes <= 1 and target.max_nodes is None:  # a cluster need not be asked for one node
        return
    most = context.scheduler.most_nodes(workspace, target)
    if most is not None and nodes > most:
        raise Problem(
            "too_many_nodes",
            f"The run asks for {nodes} nodes, but {request.target!r} can have {most} at most.",
            "Ask for fewer (node_count), or use a larger target: `runyard compute ls` shows how many each can have, "
            f"and `runyard compute update {request.target} --max-nodes {nodes}` raises the limit of one that was made.",
            {"nodes": nodes, "most_nodes": most, "target": request.target},
        )


def _check_snapshot(connection: Connection, id: str) -> None:
    if snapshots.is_doubtful(connection, id):
        raise Problem("snapshot_not_found", f"The snapshot {id} is not whole.", "Send its manifest, and what it lacks.")


def _target_of(connection: Connection, request: RunRequest) -> tuple[str, Target]:
    """The workspace and the compute target of a script run; refused when there is no such target."""
    workspace = str(request.workspace)
    if request.parent_id is not None:
        workspace = runs.get(connection, request.parent_id).workspace
    target = compute.look_up(connection, workspace, request.target)
    if target is None:
        known = [each.name for each in compute.find(connection, workspace)]
        raise Problem(
            "unknown_target",
            f"There is no compute target {request.target!r} in the workspace {workspace!r}.",
            f"It has: {', '.join(known)}. Make another with `runyard compute create {request.target} --max-nodes 4`.",
            {"targets": known},
        )
    return workspace, target


def _nodes_of(request: RunRequest) -> int:
    return _distribution(request.launch).nodes


def _distribution(launch: LaunchRequest | None) -> Distribution:
    return Distribution() if launch is None else Distribution(**launch.distribution.model_dump())


def _data_of(request: RunRequest) -> dict[str, str | None]:
    """Which datasets the run reads, so that those find their runs."""
    found: dict[str, list[str]] = {}
    for each in request.launch.inputs if request.launch is not None else ():
        found.setdefault(seen.OF_DATASET + each.dataset, []).append(each.name)
    return {key: ",".join(names) for key, names in found.items()}


def _without_secrets(request: RunRequest, secrets: Secrets) -> RunRequest:
    """A copy of the request that names its secrets instead of holding them, so that it can be stored and shown."""
    store_secret = storing(secrets)
    changes: Json = {"definition": veil(request.definition, store_secret)}
    if request.launch is not None:
        changes["launch"] = LaunchRequest(**veil(request.launch.model_dump(), store_secret))
    return request.model_copy(update=changes)


def _create(connection: Connection, request: RunRequest, by: str | None) -> Run:
    """A child belongs to its parent's experiment, whatever experiment the request names."""
    parent = runs.get(connection, request.parent_id) if request.parent_id is not None else None
    if parent is not None:
        experiment = experiments.get(connection, parent.experiment_id)
    else:
        experiment = experiments.ensure(connection, str(request.workspace), str(request.experiment))
    if experiment.archived_at is not None:
        raise Problem(
            "experiment_archived",
            f"The experiment {experiment.name!r} is archived and takes no new runs.",
            "Bring it back with `experiment.reactivate()`, or use another name.",
        )
    launch, properties = _environment_of(connection, request, experiment.workspace)
    led_and_started = request.kind not in SUBMITTED and request.start
    sweep = None if request.sweep is None else request.sweep.sweep()
    if sweep is not None:
        sweep = sweep_request.with_former(connection, sweep, experiment.workspace)
    made = runs.create(
        connection,
        NewRun(
            id=request.run_id or new_id(request.kind, experiment.name),
            workspace=experiment.workspace,
            experiment=experiment.name,
            experiment_id=experiment.id,
            status=states.RUNNING if led_and_started else states.NOT_STARTED,
            reason="started by the process that leads it" if led_and_started else "made",
            kind=request.kind,
            type=request.type,
            parent_id=request.parent_id,
            name=request.name,
            display_name=request.display_name,
            description=request.description,
            tags=request.tags if sweep is None else {**request.tags, **sweep_request.tags_of(sweep)},
            properties={**_properties_of(connection, request, by), **properties, **_data_of(request)},
            target=request.target,
            submitted_by=_submitted_by(connection, request.parent_id or by),
            snapshot_id=request.snapshot_id,
            definition=dict(request.definition),
            launch=launch,
            nodes=_nodes_of(request),
        ),
    )
    if sweep is not None and request.sweep is not None:
        sweeps.create(connection, made.id, sweep, {**request.sweep.child_properties, **properties})
    return made


def _properties_of(connection: Connection, request: RunRequest, by: str | None) -> dict[str, str | None]:
    """The properties of the request, and the run that it came from, where its parents do not show that."""
    properties = {key: value for key, value in request.properties.items() if key != SUBMITTED_FROM}
    above = family.above(connection, request.parent_id) if by and request.parent_id else []
    return properties if by is None or by in above else {**properties, SUBMITTED_FROM: by}


def _submitted_by(connection: Connection, run_id: str | None) -> str | None:
    """Runs that a run makes are those of the user who has submitted it."""
    return operator() if run_id is None else runs.get(connection, run_id).submitted_by


def _environment_of(connection: Connection, request: RunRequest, workspace: str) -> tuple[Json | None, dict[str, str]]:
    """The launch of the run, and the properties that describe its environment."""
    if request.launch is None:
        return None, {}
    launch = request.launch.model_dump()
    if request.kind not in SUBMITTED:
        return launch, {}
    asked = request.definition.get("environment")
    return run_environment.settle(connection, workspace, launch, asked if isinstance(asked, dict) else {})


def new_id(kind: str, experiment: str) -> str:
    """Submitted runs are named after their experiment, the others have a UUID, as in SDK v1."""
    if kind == SWEEP:
        return f"HD_{uuid.uuid4()}"
    return names.submitted_run(experiment) if kind == SCRIPT else str(uuid.uuid4())


@functools.cache
def operator() -> str:
    """The user whose server this is: there is one token, so all its runs are theirs."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a user id without a name, as in many containers
        return str(os.getuid())


def invalid(title: str, help: str) -> Problem:
    return Problem("invalid_run", title, help)
