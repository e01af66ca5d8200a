"""MLflow's database in a file of SQLite, read as it is: no MLflow has to be installed or started."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from runyard.cli.errors import CommandError
from runyard.cli.transfer.records import (
    Opened,
    Point,
    SourceExperiment,
    SourceModel,
    SourceRun,
    SourceVersion,
    open_binary,
)

LEFT_OUT = {"traces": "trace_info", "datasets": "datasets"}


class MlflowDatabase:
    def __init__(self, file: Path) -> None:
        if not file.is_file():
            raise CommandError(f"There is no file {file}.", "Name MLflow's database: sqlite:///path/to/mlflow.db.")
        self.name = f"sqlite:///{file.absolute()}"
        self._folder = file.absolute().parent
        self._database = sqlite3.connect(f"file:{quote(str(file.absolute()))}?mode=ro", uri=True)
        self._database.row_factory = sqlite3.Row
        if not self._has("experiments") or not self._has("runs"):
            raise CommandError(f"{file} is no database of MLflow: it has no runs.", code="bad_source")

    def experiments(self) -> list[SourceExperiment]:
        tags = self._texts("experiment_tags", "experiment_id")
        rows = self._rows("SELECT experiment_id, name, lifecycle_stage FROM experiments ORDER BY experiment_id")
        return [SourceExperiment(str(row[0]), row[1], tags.get(row[0], {}), row[2] == "deleted") for row in rows]

    def runs(self, experiment: SourceExperiment) -> Iterator[SourceRun]:
        rows = self._rows("SELECT * FROM runs WHERE experiment_id = ? ORDER BY start_time, run_uuid", experiment.id)
        for row in rows:
            id, known = row["run_uuid"], row.keys()
            tags = dict(self._rows("SELECT key, value FROM tags WHERE run_uuid = ?", id))
            yield SourceRun(
                id=id,
                experiment_id=experiment.id,
                name=(row["name"] if "name" in known else "") or tags.get("mlflow.runName", ""),
                user=row["user_id"] or "",
                status=row["status"] or "FINISHED",
                start_time=row["start_time"] or 0,
                end_time=row["end_time"],
                deleted=row["lifecycle_stage"] == "deleted",
                parameters={key: value or "" for key, value in self._of("params", id)},
                tags={key: value or "" for key, value in tags.items()},
                metrics=[each[0] for each in self._rows("SELECT DISTINCT key FROM metrics WHERE run_uuid = ?", id)],
            )

    def history(self, run: SourceRun, metric: str) -> list[Point]:
        query = (
            "SELECT value, timestamp, step, is_nan FROM metrics WHERE run_uuid = ? AND key = ? "
            "ORDER BY timestamp, step, value"
        )
        rows = self._rows(query, run.id, metric)
        return [(math.nan if row[3] else float(row[0]), int(row[1] or 0), int(row[2] or 0)) for row in rows]

    def files(self, run: SourceRun) -> Iterator[tuple[str, Opened]]:
        (row,) = self._rows("SELECT artifact_uri FROM runs WHERE run_uuid = ?", run.id)
        yield from files_at(str(row[0] or ""), self._folder)
        if self._has("logged_models"):
            query = "SELECT name, artifact_location FROM logged_models WHERE source_run_id = ?"
            for name, place in self._rows(query, run.id):
                for path, opened in files_at(str(place or ""), self._folder):
                    yield f"{name}/{path}", opened

    def logged_models(self) -> dict[str, tuple[str, str]]:
        if not self._has("logged_models"):
            return {}
        rows = self._rows("SELECT model_id, source_run_id, name FROM logged_models WHERE source_run_id IS NOT NULL")
        return {str(row[0]): (str(row[1]), str(row[2])) for row in rows}

    def models(self) -> list[SourceModel]:
        if not self._has("registered_models"):
            return []
        tags, aliases = self._texts("registered_model_tags", "name"), self._aliases()
        found = []
        for row in self._rows("SELECT name, description FROM registered_models ORDER BY name"):
            versions = [
                SourceVersion(
                    int(each["version"]),
                    each["source"] or "",
                    each["run_id"] or "",
                    each["description"] or "",
                    dict(
                        self._rows(
                            "SELECT key, value FROM model_version_tags WHERE name = ? AND version = ?",
                            row["name"],
                            each["version"],
                        )
                    ),
                    each["current_stage"] or "None",
                )
                for each in self._rows("SELECT * FROM model_versions WHERE name = ? ORDER BY version", row["name"])
                if each["current_stage"] != "Deleted_Internal"
            ]
            here = aliases.get(row["name"], {})
            found.append(SourceModel(row["name"], row["description"] or "", tags.get(row["name"], {}), here, versions))
        return found

    def left_out(self) -> dict[str, int]:
        found = {}
        for what, table in LEFT_OUT.items():
            if self._has(table):
                ((count,),) = self._rows(f"SELECT count(*) FROM {table}")
                found[what] = int(count)
        return {what: count for what, count in found.items() if count}

    def _aliases(self) -> dict[str, dict[str, int]]:
        found: dict[str, dict[str, int]] = {}
        if self._has("registered_model_aliases"):
            for name, alias, version in self._rows("SELECT name, alias, version FROM registered_model_aliases"):
                found.setdefault(name, {})[alias] = int(version)
        return found

    def _texts(self, table: str, of: str) -> dict[Any, dict[str, str]]:
        found: dict[Any, dict[str, str]] = {}
        if self._has(table):
            for owner, key, value in self._rows(f"SELECT {of}, key, value FROM {table}"):
                found.setdefault(owner, {})[key] = value or ""
        return found

    def _of(self, table: str, run: str) -> list[Any]:
        return self._rows(f"SELECT key, value FROM {table} WHERE run_uuid = ?", run)

    def _has(self, table: str) -> bool:
        return bool(self._rows("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", table))

    def _rows(self, query: str, *values: Any) -> list[Any]:
        try:
            return self._database.execute(query, values).fetchall()
        except sqlite3.DatabaseError as error:
            raise CommandError(f"{self.name} cannot be read: {error}.", code="bad_source") from None


def files_at(address: str, beside: Path) -> Iterator[tuple[str, Opened]]:
    """The files below a folder that an address names; ValueError when it names none of this machine."""
    parts = urlsplit(address)
    if parts.scheme not in ("", "file"):
        raise ValueError(f"its files are in {address}, which is not on this machine")
    path = Path(unquote(parts.path)) if parts.scheme else Path(address)
    root = path if path.is_absolute() else beside / path
    if not root.is_dir():
        return
    for each in sorted(root.rglob("*")):
        if each.is_file():
            yield each.relative_to(root).as_posix(), partial(open_binary, each)
