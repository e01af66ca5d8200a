"""`Run`: one run of an experiment. Its methods are in the modules `metrics`, `files`, `labels`, `children`,
`lifecycle` and `watching`, and are combined here."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any, Iterator, Mapping, Sequence

from runyard.sdk.exceptions import UserErrorException
from runyard.sdk.run import types
from runyard.sdk.run.children import RunChildren
from runyard.sdk.run.datasets import InputDatasets, LinkOutput, OutputDatasets
from runyard.sdk.run.files import RunFiles
from runyard.sdk.run.labels import RunLabels
from runyard.sdk.run.lifecycle import RunLifecycle
from runyard.sdk.run.listing import listed_runs
from runyard.sdk.run.metrics import RunMetrics
from runyard.sdk.run.watching import RunWatching

if TYPE_CHECKING:
    from runyard.contracts.documents import RunDocument
    from runyard.sdk.environment.environment import Environment
    from runyard.sdk.experiment import Experiment
    from runyard.sdk.model.model import Model
    from runyard.sdk.run.offline import _OfflineRun
    from runyard.sdk.telemetry.telemetry import Telemetry
    from runyard.sdk.workspace.workspace import Workspace

__all__ = ["InputDatasets", "LinkOutput", "Run", "get_run"]


class Run(RunMetrics, RunFiles, RunLabels, RunChildren, RunLifecycle, RunWatching):
    """One run of an experiment: made by `Experiment.submit` or `Experiment.start_logging`, found by `Run.get`.

    Inside a script, `Run.get_context()` is the run that the script belongs to.
    """

    def __init__(
        self,
        experiment: Experiment,
        run_id: str,
        outputs: str | None = None,
        *,
        _document: RunDocument | None = None,
        _own_telemetry: Telemetry | None = None,
        **kwargs: Any,
    ) -> None:
        if not isinstance(run_id, str) or not run_id:
            raise UserErrorException(
                f"Run(experiment, run_id) stands for a run that is there, and {run_id!r} is no id of one. "
                "experiment.submit(config) and experiment.start_logging() make a run; Run.get_context() is the run "
                "that a script belongs to."
            )
        super().__init__(experiment, run_id, _document, _own_telemetry)
        if outputs is not None:
            from pathlib import Path

            self._outputs = Path(outputs).absolute()

    # -- finding runs -----------------------------------------------------------------------------------------------

    @classmethod
    def get_context(
        cls, allow_offline: bool = True, used_for_context_manager: bool = False, **kwargs: Any
    ) -> Run | _OfflineRun:
        """The run that this script belongs to; outside a run, an object that prints what is logged.

        With `allow_offline=False`, RunEnvironmentException outside a run.
        """
        from runyard.sdk.run.context import get_context

        return get_context(allow_offline)

    @classmethod
    def get_submitted_run(cls, **kwargs: Any) -> Run | _OfflineRun:
        """Deprecated: the same as `get_context`."""
        return cls.get_context(**kwargs)

    @staticmethod
    def get(workspace: Workspace, run_id: str) -> Run:
        """The run with this id."""
        return types.run_of(workspace, run_id)

    @staticmethod
    def list(
        experiment: Experiment,
        type: str | None = None,
        tags: object = None,
        properties: object = None,
        status: str | None = None,
        include_children: bool = False,
        _rehydrate_runs: bool = True,
    ) -> Iterator[Run]:
        """The runs of an experiment, newest first; children only on request."""
        workspace = experiment.workspace
        place = {"workspace": workspace.name, "experiment": experiment.name, "include_children": include_children}
        for document in listed_runs(workspace.service, place, type, tags, properties, status):
            yield types.run_from(workspace, document, experiment)

    @staticmethod
    def list_by_compute(
        compute: Any, type: str | None = None, tags: object = None, properties: object = None, status: str | None = None
    ) -> Iterator[Run]:
        """The runs on a compute target, newest first."""
        workspace: Workspace = compute.workspace
        place = {"workspace": workspace.name, "target": compute.name, "include_children": True}
        for document in listed_runs(workspace.service, place, type, tags, properties, status):
            yield types.run_from(workspace, document)

    @staticmethod
    def add_type_provider(runtype: str, run_factory: types.RunFactory) -> None:
        """Use your own class for runs of a type: `run_factory(experiment, run_document)` creates the objects."""
        types.add_type_provider(runtype, run_factory)

    # -- what it is -------------------------------------------------------------------------------------------------

    @property
    def id(self) -> str:
        """The run's id."""
        return self._run_id

    @property
    def run_id(self) -> str:
        """The run's id, under its name in SDK v1 on the results of `ComputeTarget.get_active_runs`."""
        return self._run_id

    @property
    def experiment(self) -> Experiment:
        """The experiment that the run belongs to."""
        return self._experiment

    @property
    def name(self) -> str | None:
        """The run's name (of a child: `parent>child`); None when it was given none."""
        return self._cached()["name"]

    @property
    def display_name(self) -> str | None:
        """The name that people see; it can be changed and need not be unique."""
        return self._cached()["display_name"]

    @display_name.setter
    def display_name(self, value: str) -> None:
        self._document = self._service.patch(self._address(), {"display_name": value})

    @property
    def description(self) -> str | None:
        """What the run is about."""
        return self._cached()["description"]

    @description.setter
    def description(self, value: str) -> None:
        self._document = self._service.patch(self._address(), {"description": value})

    @property
    def type(self) -> str:
        """The run's type, such as `azureml.scriptrun`."""
        return self._cached()["type"]

    @property
    def number(self) -> int:
        """The run's number within its experiment."""
        return self._cached()["number"]

    def get_portal_url(self) -> str:
        """The URL of the run's page; it opens in a browser without a login."""
        return self._cached()["web_url"]

    @property
    def portal_url(self) -> str:
        """The address of the server that shows the runs."""
        return self._service.url

    @property
    def input_datasets(self) -> InputDatasets:
        """The run's input datasets, by name."""
        return InputDatasets(self._experiment.workspace)

    @property
    def output_datasets(self) -> OutputDatasets:
        """The paths of the run's output datasets, by name."""
        return OutputDatasets(self._experiment.workspace)

    def get_environment(self) -> Environment:
        """The environment that the run was submitted with."""
        from runyard.sdk.environment.environment import Environment

        definition = self._fetch().get("definition", {}).get("environment")
        if not isinstance(definition, Mapping):
            raise UserErrorException(f"Run {self._run_id} was not submitted with an environment.")
        return Environment.from_dict(definition)

    def clean(self) -> builtins.list[str]:
        """Remove what the run left on its compute target: nothing, because Runyard cleans up when a run ends."""
        return []

    # -- models -----------------------------------------------------------------------------------------------------

    def register_model(
        self,
        model_name: str,
        model_path: str | None = None,
        tags: Mapping[str, str] | None = None,
        properties: Mapping[str, str] | None = None,
        model_framework: str | None = None,
        model_framework_version: str | None = None,
        description: str | None = None,
        datasets: Sequence[Any] | None = None,
        sample_input_dataset: Any = None,
        sample_output_dataset: Any = None,
        resource_configuration: Any = None,
        **kwargs: Any,
    ) -> Model:
        """Register a file or folder of the run's history as the next version of a model. Nothing is copied.

        `model_path` is its name there, such as `outputs/model.pt`; by default it is the model's name.
        """
        from runyard.sdk.model import arguments, registering
        from runyard.sdk.model.model import Model

        workspace = self._experiment.workspace
        details = arguments.details(
            workspace,
            tags,
            properties,
            description,
            datasets,
            model_framework,
            model_framework_version,
            sample_input_dataset,
            sample_output_dataset,
            resource_configuration,
        )
        return Model._told(workspace, registering.from_run(self, model_name, model_path, details))

    # -- secrets ----------------------------------------------------------------------------------------------------

    def get_secret(self, name: str) -> str:
        """A secret of the workspace (`ws.get_default_keyvault().set_secret`, or `runyard secret set`)."""
        return self._experiment.workspace.get_default_keyvault().get_secret(name)

    def get_secrets(self, secrets: Sequence[str]) -> dict[str, str]:
        """Several secrets, by name."""
        return self._experiment.workspace.get_default_keyvault().get_secrets(secrets)

    # -- how it looks -----------------------------------------------------------------------------------------------

    def __str__(self) -> str:
        known = self._cached()
        parts = (
            f"Experiment: {self._experiment.name}",
            f"Id: {self._run_id}",
            f"Type: {known['type']}",
            f"Status: {known['status']}",
        )
        return "Run({})".format(",\n".join(parts))

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        from runyard.sdk.notebook import link, table

        known = self._cached()
        page = link(known["web_url"], "Run page")
        return table(
            ("Experiment", "Id", "Type", "Status", "Details"),
            [(self._experiment.name, self._run_id, known["type"], known["status"], page)],
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Run) and other._run_id == self._run_id

    def __hash__(self) -> int:
        return hash(self._run_id)


def get_run(experiment: Experiment, run_id: str, rehydrate: bool = True, clean_up: bool = True) -> Run:
    """The run with this id of an experiment."""
    return types.run_of(experiment.workspace, run_id)
