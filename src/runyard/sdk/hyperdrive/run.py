"""`HyperDriveRun`: the parent of the children of a sweep, and how they stand to one another."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Mapping, NoReturn

from runyard.client.http import quote
from runyard.contracts.states import CANCELED, FAILED
from runyard.contracts.sweeps import sweep as contract
from runyard.sdk.exceptions import HyperDriveConfigException, HyperDriveNotImplementedException, UserErrorException
from runyard.sdk.hyperdrive.config import HyperDriveConfig
from runyard.sdk.run.run import Run
from runyard.sdk.submit import submit

if TYPE_CHECKING:
    from runyard.sdk.experiment import Experiment


class HyperDriveRun(Run):
    """A sweep that was submitted."""

    RUN_TYPE = contract.RUN_TYPE
    HYPER_DRIVE_RUN_USER_AGENT = "sdk_run_hyper_drive"

    def __init__(
        self, experiment: Experiment, run_id: str, hyperdrive_config: HyperDriveConfig | None = None, **kwargs: Any
    ) -> None:
        if hyperdrive_config is not None and not isinstance(hyperdrive_config, HyperDriveConfig):
            raise HyperDriveConfigException(
                f"hyperdrive_config must be a HyperDriveConfig, not a {type(hyperdrive_config).__name__}."
            )
        super().__init__(experiment, run_id, **kwargs)
        self._hyperdrive_config = hyperdrive_config

    @property
    def hyperdrive_config(self) -> HyperDriveConfig | None:
        """The configuration that was submitted; None for a sweep that was found by its id."""
        return self._hyperdrive_config

    def cancel(self) -> bool:  # type: ignore[override]  # SDK v1 returns it here, and nothing elsewhere
        """Stop the sweep and all of its children."""
        super().cancel()
        return True

    def get_best_run_by_primary_metric(
        self, include_failed: bool = True, include_canceled: bool = True, include_resume_from_runs: bool = True
    ) -> Run | None:
        """The child with the best value of the primary metric; None when there is none."""
        standing = self._standing()
        trials = list(standing["trials"])
        if include_resume_from_runs:
            for former in standing["resume_from"]:
                trials += self._service.get(f"/api/runs/{quote(former)}/sweep")["trials"]
        left_out = {FAILED} if not include_failed else set()
        left_out |= {CANCELED} if not include_canceled else set()
        known = [each for each in trials if each["best"] is not None and each["status"] not in {None, *left_out}]
        if not known:
            return None
        choose = max if standing["goal"] == contract.MAXIMIZE else min
        return Run.get(self._experiment.workspace, choose(known, key=lambda each: each["best"])["run_id"])

    def get_children_sorted_by_primary_metric(
        self, top: int = 0, reverse: bool = False, discard_no_metric: bool = False
    ) -> list[dict[str, Any]]:
        """The children, the best one first: run_id, hyperparameters (JSON text), best_primary_metric, status. Those
        without the metric come last; `top` of them, or all; with `reverse`, the worst one first."""
        assert type(top) is int, "top must be a whole number"
        assert top >= 0, "top must be a whole number from 0 on"
        assert isinstance(reverse, bool), "reverse must be True or False"
        assert isinstance(discard_no_metric, bool), "discard_no_metric must be True or False"
        standing = self._standing()
        known = [each for each in standing["trials"] if each["best"] is not None]
        known.sort(key=lambda each: each["best"], reverse=(standing["goal"] == contract.MAXIMIZE) != reverse)
        unknown = [] if discard_no_metric else [each for each in standing["trials"] if each["best"] is None]
        found = [_child(each) for each in [*known, *unknown]]
        return found[:top] if top else found

    def get_hyperparameters(self) -> dict[str, str]:
        """The parameters of each child, as JSON text, by the child's id."""
        return {each["run_id"]: json.dumps(each["parameters"]) for each in self._standing()["trials"]}

    def get_metrics(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """The metrics of each child, by its id."""
        found = super().get_metrics(recursive=True)
        return {run_id: metrics for run_id, metrics in found.items() if run_id != self._run_id}

    def get_diagnostics(self) -> NoReturn:
        """Not in SDK v1 either."""
        raise HyperDriveNotImplementedException("A sweep has no diagnostics. Its log is azureml-logs/hyperdrive.txt.")

    def fail(self, *args: Any, **kwargs: Any) -> NoReturn:
        """A sweep cannot be failed from outside, as in SDK v1: `cancel` it."""
        raise HyperDriveNotImplementedException("A sweep cannot be failed from outside. Use cancel().")

    def extend(self, more_runs: int) -> None:
        """Let the sweep have more children, also after its end. SDK v1 has no such thing."""
        self._document = self._service.post(self._address("sweep", "extend"), {"runs": more_runs})

    def _standing(self) -> dict[str, Any]:
        found: dict[str, Any] = self._service.get(self._address("sweep"))
        return found


def submit_sweep(
    experiment: Experiment, config: HyperDriveConfig, tags: Mapping[str, object] | None = None, **kwargs: Any
) -> HyperDriveRun:
    """Submit a sweep. The snapshot is taken once, and all children use it."""
    kwargs.setdefault("run_id", config._custom_run_id)
    try:
        document = submit.submitted(
            experiment.workspace, experiment.name, config._script(), tags, sweep=config._sweep, **kwargs
        )
    except UserErrorException as error:
        if getattr(error.inner_exception, "code", None) not in ("bad_sweep", "no_sweep"):
            raise
        raise HyperDriveConfigException(error.message, inner_exception=error.inner_exception) from None
    return HyperDriveRun(experiment, document["id"], config, _document=document)


submit.register(HyperDriveConfig, submit_sweep)


def _child(trial: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "run_id": trial["run_id"],
        "hyperparameters": json.dumps(trial["parameters"]),
        "best_primary_metric": trial["best"],
        "status": trial["status"],
    }
