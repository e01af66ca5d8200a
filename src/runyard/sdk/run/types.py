"""The classes for types of runs, and run objects made from the server's documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, cast

from runyard.client.http import quote

if TYPE_CHECKING:
    from runyard.contracts.documents import RunDocument
    from runyard.sdk.experiment import Experiment
    from runyard.sdk.run.run import Run
    from runyard.sdk.workspace.workspace import Workspace

SWEEP_TYPE = "hyperdrive"

RunFactory = Callable[..., Any]

_factories: dict[str, RunFactory] = {}


def add_type_provider(run_type: str, factory: RunFactory) -> None:
    """Register a factory: runs of this type are created with `factory(experiment, run_document)`."""
    _factories[run_type] = factory


def run_from(workspace: Workspace, document: RunDocument, experiment: Experiment | None = None) -> Run:
    """The object for a run, of the class for its type."""
    from runyard.sdk.experiment import Experiment
    from runyard.sdk.run.run import Run
    from runyard.sdk.submit.script_run import ScriptRun

    if experiment is None:
        experiment = Experiment._known_as(workspace, document["experiment"], document["experiment_id"])
    factory = _factories.get(document["type"])
    if factory is not None:
        return cast("Run", factory(experiment, document))
    if document["type"] == SWEEP_TYPE:
        from runyard.sdk.hyperdrive.run import HyperDriveRun

        return HyperDriveRun(experiment, document["id"], _document=document)
    kind = ScriptRun if document["type"] == ScriptRun.RUN_TYPE else Run
    return kind(experiment, document["id"], _document=document)


def run_of(workspace: Workspace, run_id: str) -> Run:
    """The run with this id, fetched from the server."""
    document = cast("RunDocument", workspace.service.get(f"/api/runs/{quote(run_id)}"))
    return run_from(workspace, document)
