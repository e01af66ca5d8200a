"""`Experiment`: a name under which runs are grouped."""

from __future__ import annotations

import builtins
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Iterator, Mapping, Sequence, cast

from runyard.client.http import quote
from runyard.contracts import names
from runyard.sdk.exceptions import AzureMLException, UserErrorException
from runyard.sdk.labels import checked_labels
from runyard.sdk.run.listing import label_filter

if TYPE_CHECKING:
    from datetime import datetime

    from runyard.contracts.documents import ExperimentDocument
    from runyard.sdk.run.run import Run
    from runyard.sdk.workspace.workspace import Workspace


class ViewType:
    """Which experiments `Experiment.list` shows."""

    ActiveOnly = "ActiveOnly"
    ArchivedOnly = "ArchivedOnly"
    All = "All"


class Experiment:
    """An experiment of a workspace; it is created if it does not exist.

    >>> experiment = Experiment(workspace=ws, name="my_experiment")  # doctest: +SKIP
    """

    def __init__(self, workspace: Workspace, name: str, _create_in_cloud: bool = True, **kwargs: Any) -> None:
        self._workspace = workspace
        self._name = _checked(name)
        self._document: ExperimentDocument | None = None
        self._id: str | None = None
        if _create_in_cloud:
            address = f"/api/workspaces/{quote(workspace.name)}/experiments/{quote(self._name)}"
            self._take(workspace.service.put(address))

    @classmethod
    def _known_as(cls, workspace: Workspace, name: str, experiment_id: str | None) -> Experiment:
        """An experiment that is known to exist: no request is made."""
        experiment = cls(workspace, name, _create_in_cloud=False)
        experiment._id = experiment_id
        return experiment

    # -- runs -------------------------------------------------------------------------------------------------------

    def submit(self, config: object, tags: Mapping[str, object] | None = None, **kwargs: Any) -> Run:
        """Submit a run (of a ScriptRunConfig, for example) and return it at once; submitted twice, it is two runs."""
        from runyard.sdk.submit.submit import submit_config

        return submit_config(self, config, tags, **kwargs)

    def start_logging(self, *args: Any, **kwargs: Any) -> Run:
        """Start an interactive run, led by this process: it logs until `run.complete()`.

        Takes `name`, `run_id`, `display_name`, `tags`, `outputs` (the folder that becomes the run's outputs, by default
        ./outputs; False for none) and `snapshot_directory` (by default the working folder; None for no snapshot).
        """
        from runyard.sdk.run.start_logging import start_logging

        return start_logging(self, *args, **kwargs)

    def get_runs(
        self,
        type: str | None = None,
        tags: object = None,
        properties: object = None,
        include_children: bool = False,
    ) -> Iterator[Run]:
        """The runs of the experiment, newest first; children only on request."""
        from runyard.sdk.run.run import Run

        return Run.list(self, type=type, tags=tags, properties=properties, include_children=include_children)

    # -- the experiment itself --------------------------------------------------------------------------------------

    def archive(self) -> None:
        """Hide the experiment from lists; it takes no new runs until it is reactivated."""
        self._change({"archived": True})

    def reactivate(self, new_name: str | None = None) -> None:
        """Restore an archived experiment, under a new name if its own is taken."""
        change: dict[str, Any] = {"archived": False}
        if new_name is not None:
            change["name"] = _checked(new_name)
        self._change(change)

    def tag(self, key: str, value: object = None) -> None:
        """Set one tag, with or without a value."""
        self.set_tags({key: value})

    def set_tags(self, tags: Mapping[str, object]) -> None:
        """Set tags; the others stay."""
        self._change({"set_tags": checked_labels("tags", tags, none_allowed=True)})

    def remove_tags(self, tags: str | Sequence[str]) -> None:
        """Remove tags by their keys."""
        self._change({"remove_tags": [tags] if isinstance(tags, str) else [str(tag) for tag in tags]})

    def refresh(self) -> None:
        """Fetch the current state of the experiment from the server."""
        self._take(self._workspace.service.get(self._address()))

    @staticmethod
    def from_directory(path: str | os.PathLike[str], auth: Any = None) -> Experiment:
        """Deprecated: the experiment that is named after a folder, in the workspace of its config.json."""
        from runyard.sdk.workspace.workspace import Workspace

        return Experiment(Workspace.from_config(path, auth), Path(path).resolve().name)

    @staticmethod
    def list(
        workspace: Workspace,
        experiment_name: str | None = None,
        view_type: str = ViewType.ActiveOnly,
        tags: object = None,
    ) -> builtins.list[Experiment]:
        """The experiments of a workspace, newest first."""
        params = {"view": str(view_type), "name": experiment_name, "tag": label_filter("tags", tags)}
        answer = workspace.service.get(f"/api/workspaces/{quote(workspace.name)}/experiments", params)
        return [Experiment._from_document(workspace, document) for document in answer["experiments"]]

    @staticmethod
    def delete(workspace: Workspace, experiment_id: str) -> None:
        """Delete an experiment permanently: its runs, their metrics and every file that nothing else uses."""
        freed = workspace.service.delete(f"/api/experiments/{quote(experiment_id)}", timeout=600.0)
        runs = f"{freed['runs']} run{'' if freed['runs'] == 1 else 's'}"
        print(f"Deleted experiment {experiment_id}: {runs}, {freed['bytes_freed']:,} bytes freed.")

    @property
    def workspace(self) -> Workspace:
        return self._workspace

    @property
    def workspace_object(self) -> Workspace:
        """Deprecated: the same as `workspace`."""
        return self._workspace

    @property
    def name(self) -> str:
        return self._name

    @property
    def id(self) -> str:
        if self._id is None:
            self._take(self._fetch())
        return cast("str", self._id)

    @property
    def archived_time(self) -> datetime | None:
        """When the experiment was archived; None when it is not."""
        from datetime import datetime

        at = self._cached()["archived_at"]
        return None if at is None else datetime.fromisoformat(at.replace("Z", "+00:00"))

    @property
    def tags(self) -> dict[str, str]:
        return dict(self._cached()["tags"])

    def get_portal_url(self) -> str:
        """The address of the server, which has no page for experiments yet; each run has one (`run.get_portal_url`)."""
        return self._workspace.service.url

    @property
    def portal_url(self) -> str:
        """The address of the server."""
        return self._workspace.service.url

    def __repr__(self) -> str:
        return f"Experiment(Name: {self._name},\nWorkspace: {self._workspace.name})"

    def _repr_html_(self) -> str:
        from runyard.sdk.notebook import table

        return table(("Name", "Workspace", "Server"), [(self._name, self._workspace.name, self._workspace.service.url)])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Experiment) and (other._workspace.name, other._name) == (
            self._workspace.name,
            self._name,
        )

    def __hash__(self) -> int:
        return hash((self._workspace.name, self._name))

    @classmethod
    def _from_document(cls, workspace: Workspace, document: ExperimentDocument) -> Experiment:
        experiment = cls._known_as(workspace, document["name"], document["id"])
        experiment._document = document
        return experiment

    def _change(self, change: dict[str, Any]) -> None:
        self._take(self._workspace.service.patch(self._address(), change))

    def _take(self, document: ExperimentDocument) -> None:
        self._document, self._id, self._name = document, document["id"], document["name"]

    def _cached(self) -> ExperimentDocument:
        if self._document is None:
            self._take(self._fetch())
        return cast("ExperimentDocument", self._document)

    def _fetch(self) -> ExperimentDocument:
        """By id where it is known, else by name: the active one, where there are several."""
        if self._id is not None:
            return cast("ExperimentDocument", self._workspace.service.get(self._address()))
        for view in (ViewType.ActiveOnly, ViewType.ArchivedOnly):
            found = Experiment.list(self._workspace, self._name, view)
            if found:
                return found[0]._cached()
        raise AzureMLException(f"There is no experiment {self._name!r} in the workspace {self._workspace.name!r}.")

    def _address(self) -> str:
        return f"/api/experiments/{quote(self.id)}"


def _checked(name: object) -> str:
    try:
        return names.check("experiment", name)
    except names.BadName as error:
        raise UserErrorException(str(error), inner_exception=error) from None
