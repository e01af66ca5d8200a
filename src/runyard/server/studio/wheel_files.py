"""Files of packages that are installed beside the server, served as they are. Nothing of the packages is imported."""

from __future__ import annotations

import mimetypes
import os
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from runyard.server.studio.static_files import StaticFile

_KEPT = 512


def place(package: str, name: str) -> Path | None:
    """Where a file or a folder of a package is; None where the package is not installed."""
    try:
        return Path(str(distribution(package).locate_file(name)))
    except PackageNotFoundError:
        return None


def file(folder: Path, name: str) -> StaticFile | None:
    """A file below a folder; None where there is none, or it would be outside of the folder."""
    if not os.path.isfile(folder / name):  # False too for what can be no name of a file
        return None
    path = (folder / name).resolve()
    return _read(path, path.stat().st_mtime_ns) if path.is_relative_to(folder.resolve()) else None


@lru_cache(maxsize=_KEPT)
def _read(path: Path, changed: int) -> StaticFile:
    media_type = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    return StaticFile.of(path.read_bytes(), media_type, level=6)  # some are of megabytes
