"""A table as a file dataset: its files are written when they are first asked for.

On this machine they lie in a temporary folder. As an input of a run, or registered, they are put into the default
datastore of the workspace.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Iterable, Mapping

from runyard.contracts.data import datasets as contract
from runyard.sdk.data.file_dataset import FileDataset

if TYPE_CHECKING:
    from runyard.client.data.cache import Lease
    from runyard.client.data.listing import Listing
    from runyard.sdk.tables.reading import Table
    from runyard.sdk.tables.tabular_dataset import TabularDataset
    from runyard.sdk.workspace.workspace import Workspace

FOLDER = "tables"
"""In the datastore."""


class WrittenFiles(FileDataset):
    """The files that a table is written to: `to_csv_files()`, `to_parquet_files()`."""

    def __init__(self, dataset: TabularDataset, how: str, write: Callable[[Table, Path], list[Path]]) -> None:
        sources = {"kind": contract.FILE, "sources": dataset._definition["sources"], "steps": []}
        super().__init__(sources, dataset._workspace)
        self._dataset, self._how, self._write = dataset, how, write
        self._folder: Path | None = None

    def register(  # type: ignore[override]
        self,
        workspace: Workspace,
        name: str,
        description: str | None = None,
        tags: Mapping[str, str] | None = None,
        create_new_version: bool = False,
    ) -> FileDataset:
        """Put the files into the default datastore, and register the dataset of them."""
        self._saved(workspace)
        saved = FileDataset(self._definition, workspace, self._document)
        return saved.register(workspace, name, description, tags, create_new_version)

    def _steps(self) -> list[str]:
        return [*self._dataset._steps(), self._how]

    def _listing(self) -> Listing:
        if self.id is not None:
            return super()._listing()
        from runyard.client.data.listing import Listing

        found = [_listed(path) for path in sorted(self._written().iterdir())]
        return Listing(found, False, False)

    def _bring(self, listing: Listing, places: Iterable[Path], lease: Lease | None = None) -> None:
        if self.id is not None:
            super()._bring(listing, places, lease)
            return
        for each, place in zip(listing.files, places):
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(each["local"], place)

    def _with(self, step: dict[str, Any]) -> FileDataset:
        self._saved()
        return super()._with(step)

    def _saved(self, workspace: Workspace | None = None) -> Workspace:
        here = workspace or self._workspace or self._dataset._saved()
        if self.id is None:
            store = here.get_default_datastore()
            made = json.dumps([self._dataset._definition, self._how], sort_keys=True)
            target = f"{FOLDER}/{hashlib.sha256(made.encode()).hexdigest()[:32]}"
            store.upload(src_dir=str(self._written()), target_path=target, overwrite=True, show_progress=False)
            self._definition = {
                "kind": contract.FILE,
                "sources": [{"datastore": store.name, "path": f"{target}/**"}],
                "steps": [],
            }
        return super()._saved(here)

    def _written(self) -> Path:
        """The folder with the files on this machine."""
        if self._folder is None:
            from runyard.sdk.tables.files import own_folder

            folder = Path(tempfile.mkdtemp(dir=own_folder()))
            self._write(self._dataset._table(), folder)
            self._folder = folder
        return self._folder


def _listed(path: Path) -> dict[str, Any]:
    status = os.stat(path)
    at = datetime.fromtimestamp(status.st_mtime, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    facts = {"source": path.name, "size": status.st_size, "modified": at, "etag": None}
    return {"path": f"/{path.name}", "local": str(path), "url": None, "content": None, **facts}
