"""`ScriptRun`: a run that `Experiment.submit` made from a script or a command."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runyard.sdk.run.run import Run
from runyard.sdk.submit.run_request import SCRIPT_TYPE

if TYPE_CHECKING:
    from runyard.sdk.experiment import Experiment


class ScriptRun(Run):
    """A submitted script. `directory` is the folder that it was submitted from, where that is known."""

    RUN_TYPE = SCRIPT_TYPE

    def __init__(self, experiment: Experiment, run_id: str, directory: str | None = None, **kwargs: Any) -> None:
        super().__init__(experiment, run_id, **kwargs)
        self._directory = directory

    def cancel(self) -> None:
        """Request the run to stop: its processes get SIGTERM, and SIGKILL after a grace period."""
        super().cancel()
