"""The files of MLflow's pages, as its wheel has them. `mlflow-skinny` has none."""

from __future__ import annotations

from pathlib import Path

from runyard.server.studio import wheel_files
from runyard.server.studio.static_files import StaticFile

INDEX = "index.html"
EXTRA = "mlflow-ui"


def folder() -> Path | None:
    """Where the built pages are; None without the extra that has them."""
    found = wheel_files.place("mlflow", "mlflow/server/js/build")
    return found if found is not None and (found / INDEX).is_file() else None


def file(name: str) -> StaticFile | None:
    """A file of the pages, by its path among them; None where there is none."""
    place = folder()
    return None if place is None else wheel_files.file(place, name)
