"""Outputs of a run that are delivered to a datastore: what a launch says of one, and where its files go."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Mapping

from runyard.contracts.data import datasets

MOUNT, UPLOAD = "mount", "upload"
MODES = (MOUNT, UPLOAD)
DEFAULT_DATASTORE = "workspaceblobstore"
DEFAULT_PATH = "dataset/{run-id}/{output-name}"
VARIABLES = "AZUREML_DATASET_FILE_OUTPUTS"
"""The environment variable with the names of a run's outputs, separated by `;`."""

_PLACEHOLDER = re.compile(r"\{(run-id|output-name)\}")


@dataclass(frozen=True)
class Output:
    """One output. `mount` delivers files as they settle, `upload` when the script has ended."""

    name: str
    datastore: str = DEFAULT_DATASTORE
    path: str = DEFAULT_PATH
    mode: str = MOUNT
    path_on_compute: str | None = None
    overwrite: bool = False  # whether a file that is there already may be replaced
    globs: list[str] = field(default_factory=list)  # of the files that count; empty: all
    registration: dict[str, Any] | None = None  # name, description, tags: the dataset that it becomes
    definition: dict[str, Any] | None = None  # of a table that is read from it: no sources, and a `glob` of its files

    @staticmethod
    def from_dict(document: Mapping[str, Any]) -> Output:
        return Output(**{name: document[name] for name in Output.__dataclass_fields__ if name in document})

    def folder(self, run_id: str) -> str:
        """Where the files of a run go, as a path on the datastore."""
        return datasets.normal(filled(self.path, run_id, self.name))

    def counts(self, relative: str) -> bool:
        """Whether a file, by its path below the output's folder, is delivered."""
        return not self.globs or any(datasets.matcher(each)(relative) for each in self.globs)

    def dataset(self, run_id: str) -> dict[str, Any]:
        """The definition of the dataset that a run has written."""
        made = {"kind": datasets.FILE, "steps": [], **(self.definition or {})}
        path = "/".join(part for part in (self.folder(run_id), str(made.pop("glob", ""))) if part)
        return {**made, "sources": [{"datastore": self.datastore, "path": path}]}


def filled(path: str, run_id: str, output: str) -> str:
    """
    >>> filled("out/{run-id}/{output-name}", "digits_1", "prepared")
    'out/digits_1/prepared'
    """
    return _PLACEHOLDER.sub(lambda found: run_id if found[1] == "run-id" else output, path)
