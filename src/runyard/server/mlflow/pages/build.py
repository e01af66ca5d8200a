"""The files of MLflow's pages, as its wheel has them. `mlflow-skinny` has none, and nothing of either is imported."""

from __future__ import annotations

import mimetypes
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from runyard.server.studio.static_files import StaticFile

INDEX = "index.html"
EXTRA = "mlflow-ui"

_FOLDER = "mlflow/server/js/build"
_KEPT = 512


def folder() -> Path | None:
    """Where the built pages are; None without the extra that has them."""
    try:
        found = Path(str(distribution("mlflow").locate_file(_FOLDER)))
    except PackageNotFoundError:
        return None
    return found if (found / INDEX).is_file() else None


def file(name: str) -> StaticFile | None:
    """A file of the pages, by its path among them; None where there is none, or it would be outside of their folder."""
    place = folder()
    if place is None or "\0" in name:
        return None
    path = (place / name).resolve()
    if not path.is_relative_to(place.resolve()) or not path.is_file():
        return None
    return _read(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=_KEPT)
def _read(path: Path, changed: int) -> StaticFile:
    media_type = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    return StaticFile.of(path.read_bytes(), media_type, level=6)  # some are of megabytes
