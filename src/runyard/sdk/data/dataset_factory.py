"""`Dataset.File`: datasets of files from paths. Nothing is read when one is made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runyard.contracts.data import datasets as contract
from runyard.sdk.data.data_reference import DataReference, name_of
from runyard.sdk.data.datapath import DataPath
from runyard.sdk.data.file_dataset import FileDataset, workspace_of
from runyard.sdk.exceptions import UserErrorException

if TYPE_CHECKING:
    from runyard.sdk.workspace.workspace import Workspace

PATHS = "Give a web address, a tuple (datastore, 'path/*.csv'), a DataPath, or a list of those."


class FileDatasetFactory:
    """`Dataset.File`."""

    @staticmethod
    def from_files(
        path: Any, validate: bool = True, partition_format: str | None = None, is_file: bool = False
    ) -> FileDataset:
        """A dataset of files. With `partition_format`, such as '/{region}/{day:yyyy/MM/dd}/*.csv', what stands in the
        paths can be filtered by.

        >>> dataset = FileDatasetFactory.from_files(["https://example.org/a.gz", "https://example.org/b.gz"])
        >>> dataset.id is None
        True
        """
        paths = list(path) if isinstance(path, list) else [path]
        if not paths:
            raise UserErrorException(f"A dataset needs at least one path. {PATHS}")
        made = [_source(each) for each in paths]
        definition: dict[str, Any] = {"kind": contract.FILE, "sources": [source for source, _ in made], "steps": []}
        if partition_format is not None:
            definition["partition_format"] = partition_format
        try:
            contract.parse(definition)
        except contract.BadDefinition as error:
            raise UserErrorException(str(error)) from None
        return FileDataset(definition, next((here for _, here in made if here is not None), None))

    @staticmethod
    def upload_directory(
        src_dir: str, target: Any, pattern: str | None = None, overwrite: bool = False, show_progress: bool = True
    ) -> FileDataset:
        """Upload a folder to (datastore, 'path'), a DataPath or a datastore, and make a dataset of what is there."""
        from runyard.sdk.datastore.uploading import upload_directory

        store, path = upload_directory(src_dir, target, pattern, overwrite, show_progress)
        return FileDatasetFactory.from_files((store, path))


def _source(path: Any) -> tuple[dict[str, str], Workspace | None]:
    if isinstance(path, str):
        if "://" not in path:
            raise UserErrorException(f"{path!r} is a local path, which a dataset cannot have. {PATHS}")
        return {"url": path}, None
    if isinstance(path, (DataPath, DataReference)):
        return {"datastore": path.datastore_name, "path": path.path_on_datastore or ""}, workspace_of(path.datastore)
    if isinstance(path, tuple) and len(path) == 2 and isinstance(path[1], str) and path[0] is not None:
        return {"datastore": name_of(path[0]), "path": path[1]}, workspace_of(path[0])
    raise UserErrorException(f"{path!r} is no path of a dataset. {PATHS}")
