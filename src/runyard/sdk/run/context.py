"""The run that this process belongs to, from the environment that the node runner has set."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal

from runyard.sdk.exceptions import RunEnvironmentException
from runyard.sdk.notices import notice
from runyard.sdk.run.run import Run
from runyard.sdk.telemetry import telemetry

if TYPE_CHECKING:
    from types import TracebackType

    from runyard.sdk.run.offline import _OfflineRun

REQUIRED = (
    "AZUREML_RUN_ID",
    "AZUREML_ARM_SUBSCRIPTION",
    "AZUREML_ARM_RESOURCEGROUP",
    "AZUREML_ARM_WORKSPACE_NAME",
    "AZUREML_ARM_PROJECT_NAME",
    "AZUREML_RUN_TOKEN",
    "AZUREML_SERVICE_ENDPOINT",
)

_runs: dict[str, _SubmittedRun] = {}


class _SubmittedRun(Run):
    """The run that this process belongs to. It ends with the process, not with a call of this object."""

    def start(self) -> None:
        """The run has started: this process is it."""

    def complete(self, _set_status: bool = True) -> None:
        """Nothing to do: the run is completed when the script succeeds, after everything logged was delivered."""

    def fail(
        self, error_details: str | BaseException | None = None, error_code: str | None = None, _set_status: bool = True
    ) -> None:
        """A run fails when its script raises or exits with a code other than 0, and not by this call."""
        notice(
            "run.fail() does nothing inside a submitted run. Let the script raise, or end it with sys.exit(1), for the "
            "run to fail."
        )

    def cancel(self) -> None:
        """A run cannot cancel itself from inside: end the script instead."""
        notice("run.cancel() does nothing inside the run itself. End the script (sys.exit), or cancel it from outside.")

    def __enter__(self) -> _SubmittedRun:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> Literal[False]:
        return False


def get_context(allow_offline: bool) -> Run | _OfflineRun:
    """The run of this process (one object per run id), or the offline replacement."""
    if not all(os.environ.get(name) for name in REQUIRED):
        if not allow_offline:
            raise RunEnvironmentException()
        from runyard.sdk.run.offline import _OfflineRun

        return _OfflineRun()
    run_id = os.environ["AZUREML_RUN_ID"]
    run = _runs.get(run_id)
    if run is None:
        run = _runs[run_id] = _submitted(run_id)
    return run


def _submitted(run_id: str) -> _SubmittedRun:
    """No request is made: a script starts and logs even when the server is down."""
    from runyard.sdk.experiment import Experiment
    from runyard.sdk.workspace.service import run_service
    from runyard.sdk.workspace.workspace import Workspace

    workspace = Workspace._known_as(
        run_service(),
        os.environ["AZUREML_ARM_WORKSPACE_NAME"],
        os.environ["AZUREML_ARM_SUBSCRIPTION"],
        os.environ["AZUREML_ARM_RESOURCEGROUP"],
    )
    name, experiment_id = os.environ["AZUREML_ARM_PROJECT_NAME"], os.environ.get("AZUREML_EXPERIMENT_ID")
    experiment = Experiment._known_as(workspace, name, experiment_id)
    return _SubmittedRun(experiment, run_id, _own_telemetry=telemetry.inside())
