"""Which datasets a run uses that were not given to it as inputs: those that its script looks up or registers.

They become properties of the run, through its journal, so that a server that is away is no obstacle. `UsedDatasets` is
what `get_details()` has of the datasets that a run reads.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Iterable, Iterator, List, Mapping

from runyard.contracts.data import seen

if TYPE_CHECKING:
    from runyard.sdk.data.abstract_dataset import AbstractDataset
    from runyard.sdk.workspace.workspace import Workspace


def looked_up(dataset: AbstractDataset, workspace: Workspace) -> None:
    """Note that the run of this process, if there is one, has looked up a dataset."""
    _note(workspace, seen.OF_DATASET + str(dataset.id), "")


def registered(dataset: AbstractDataset, workspace: Workspace) -> None:
    """Note that the run of this process, if there is one, has registered a dataset."""
    _note(workspace, f"{seen.REGISTERED}{dataset.id}@{dataset.version}", str(dataset.name))


_noted: set[tuple[str, str]] = set()


def _note(workspace: Workspace, name: str, value: str) -> None:
    from runyard.sdk.run.context import REQUIRED, get_context

    inside = all(os.environ.get(each) for each in REQUIRED)
    if not inside or os.environ.get("AZUREML_ARM_WORKSPACE_NAME") != workspace.name:
        return
    once = (os.environ["AZUREML_RUN_ID"], name)
    if once not in _noted:
        _noted.add(once)
        get_context(allow_offline=False).add_properties({name: value})


class UsedDatasets(List[Any]):
    """`get_details()["inputDatasets"]`. It is shown with the ids; what is taken out of it has the dataset itself."""

    def __init__(self, found: Iterable[Mapping[str, Any]], workspace: Workspace) -> None:
        super().__init__(dict(each) for each in found)
        self._workspace = workspace
        self._datasets: dict[str, Any] = {}

    def __getitem__(self, at: Any) -> Any:
        chosen = super().__getitem__(at)
        return [self._whole(each) for each in chosen] if isinstance(chosen, list) else self._whole(chosen)

    def __iter__(self) -> Iterator[Any]:
        return (self._whole(each) for each in super().__iter__())

    def _whole(self, each: Mapping[str, Any]) -> dict[str, Any]:
        from runyard.sdk.data.abstract_dataset import found_by_id

        id = str(each["dataset"]["id"])
        if id not in self._datasets:
            self._datasets[id] = found_by_id(self._workspace, id)
        return {**each, "dataset": self._datasets[id]}
