"""`Dataset.File.upload_directory`: a folder to a datastore, as a dataset."""

from __future__ import annotations

import fnmatch
import os
from typing import Any

from runyard.sdk.data.datapath import DataPath
from runyard.sdk.datastore import transfers
from runyard.sdk.datastore.abstract_datastore import AbstractDatastore


def upload_directory(
    src_dir: str, target: Any, pattern: str | None, overwrite: bool, show_progress: bool
) -> tuple[AbstractDatastore, str]:
    """Upload the files of a folder, those whose whole path fits the pattern, and return where they are."""
    store, path = _place(target)
    files = transfers.of_folder(src_dir, path)
    if pattern is not None:
        files = [each for each in files if fnmatch.fnmatch(os.path.abspath(each.source), pattern)]
    transfers.upload(transfers.remote(store), files, overwrite, show_progress)
    return store, path


def _place(target: Any) -> tuple[AbstractDatastore, str]:
    if isinstance(target, DataPath):
        target = (target.datastore, target.path_on_datastore or "")
    elif isinstance(target, AbstractDatastore):
        target = (target, "")
    if not isinstance(target, tuple) or len(target) != 2 or not isinstance(target[0], AbstractDatastore):
        raise ValueError(f"{target!r} is no place to upload to: use a datastore, (datastore, 'path') or a DataPath.")
    return target[0], str(target[1] or "")
