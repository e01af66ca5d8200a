"""Members of the first datasets: those with a successor work, the others name it."""

from __future__ import annotations

import inspect
from typing import Any, cast

import pytest

from azureml.core import Dataset, Workspace
from runyard.sdk.data.old_dataset import OldDataset
from runyard.sdk.exceptions import UserErrorException


def test_registered_datasets_are_found_the_old_way(workspace: Workspace) -> None:
    made = Dataset.from_binary_files("http://h/a").register(workspace, "old-way", create_new_version=True)
    assert Dataset.get(workspace, "old-way").id == Dataset.get(workspace, id=made.id).id == made.id
    assert made.id in [each.id for each in Dataset.list(workspace)]
    with pytest.raises(UserErrorException, match="not both"):
        Dataset.get(workspace)
    made.unregister_all_versions()


def test_the_rest_is_refused_with_its_name() -> None:
    with pytest.raises(UserErrorException, match="first datasets"):
        Dataset(None)
    unmade = cast(Any, object.__new__(Dataset))
    successors = {"get", "list", "Scenario", "auto_read_files"} | {each for each in dir(Dataset) if "from_" in each}
    for name, member in vars(OldDataset).items():
        if name.startswith("_") or name in successors:
            continue
        if isinstance(member, property):
            with pytest.raises(UserErrorException, match=rf"Dataset\.{name} "):
                getattr(unmade, name)
            continue
        needed = [each for each in inspect.signature(member).parameters.values() if each.default is each.empty][1:]
        with pytest.raises(UserErrorException, match=rf"Dataset\.{name} "):
            getattr(unmade, name)(*[None] * len(needed))
    for refused in (Dataset.from_pandas_dataframe, Dataset.from_excel_files):
        with pytest.raises(UserErrorException, match="first datasets"):
            refused(None)
