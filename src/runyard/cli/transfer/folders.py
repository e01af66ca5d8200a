"""MLflow's files of old: a folder `mlruns` with a folder per experiment and run, read as it is."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import yaml

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

META = "meta.yaml"
_STATUS = {1: "RUNNING", 2: "SCHEDULED", 3: "FINISHED", 4: "FAILED", 5: "KILLED"}


class MlflowFolder:
    def __init__(self, root: Path) -> None:
        if not root.is_dir():
            raise CommandError(f"There is no folder {root}.", "Name MLflow's folder, such as ./mlruns.")
        self.name = str(root.absolute())
        self._root = root
        if not any(root.glob(f"*/{META}")) and not any(root.glob(f".trash/*/{META}")):
            raise CommandError(f"{root} is no folder of MLflow: no {META} is in it.", code="bad_source")

    def experiments(self) -> list[SourceExperiment]:
        found = []
        for folder in (self._root, self._root / ".trash"):
            for file in sorted(folder.glob(f"*/{META}")):
                if file.parent.name == "models":
                    continue
                meta = _meta(file)
                id = str(meta.get("experiment_id", file.parent.name))
                deleted = folder is not self._root or meta.get("lifecycle_stage") == "deleted"
                found.append(SourceExperiment(id, str(meta.get("name", id)), _texts(file.parent / "tags"), deleted))
        return sorted(found, key=lambda each: each.id)

    def runs(self, experiment: SourceExperiment) -> Iterator[SourceRun]:
        metas = [(_meta(file), file.parent) for file in self._folder(experiment.id).glob(f"*/{META}")]
        for meta, folder in sorted(metas, key=lambda each: (each[0].get("start_time") or 0, each[1].name)):
            if not (meta.get("run_id") or meta.get("run_uuid")):
                continue
            status = meta.get("status")
            tags = _texts(folder / "tags")
            end = meta.get("end_time")
            yield SourceRun(
                id=str(meta.get("run_id") or meta["run_uuid"]),
                experiment_id=experiment.id,
                name=str(meta.get("run_name") or tags.get("mlflow.runName") or ""),
                user=str(meta.get("user_id") or ""),
                status=_STATUS.get(status, "FINISHED") if isinstance(status, int) else str(status or "FINISHED"),
                start_time=int(meta.get("start_time") or 0),
                end_time=None if end is None else int(end),
                deleted=meta.get("lifecycle_stage") == "deleted",
                parameters=_texts(folder / "params"),
                tags=tags,
                metrics=sorted(_names(folder / "metrics")),
            )

    def history(self, run: SourceRun, metric: str) -> list[Point]:
        points: list[Point] = []
        path = self._run(run) / "metrics" / metric
        for line in path.read_text("utf-8").splitlines():
            parts = line.split()
            if len(parts) in (2, 3, 5):
                value = math.nan if parts[1].lower() == "nan" else float(parts[1])
                points.append((value, int(parts[0]), int(parts[2]) if len(parts) > 2 else 0))
        return points

    def files(self, run: SourceRun) -> Iterator[tuple[str, Opened]]:
        yield from _below(self._run(run) / "artifacts", "")
        for folder, meta in self._logged(run.experiment_id):
            if meta.get("source_run_id") == run.id:
                yield from _below(folder / "artifacts", f"{meta.get('name')}/")

    def logged_models(self) -> dict[str, tuple[str, str]]:
        found = [meta for each in self.experiments() for _, meta in self._logged(each.id)]
        return {
            str(meta["model_id"]): (str(meta["source_run_id"]), str(meta.get("name")))
            for meta in found
            if meta.get("model_id") and meta.get("source_run_id")
        }

    def _logged(self, experiment_id: str) -> list[tuple[Path, dict[str, Any]]]:
        files = sorted(self._folder(experiment_id).glob(f"models/m-*/{META}"))
        return [(file.parent, _meta(file)) for file in files]

    def models(self) -> list[SourceModel]:
        found = []
        for file in sorted((self._root / "models").glob(f"*/{META}")):
            meta, folder = _meta(file), file.parent
            versions = [
                SourceVersion(
                    int(each["version"]),
                    str(each.get("source") or ""),
                    str(each.get("run_id") or ""),
                    str(each.get("description") or ""),
                    _texts(place.parent / "tags"),
                    str(each.get("current_stage") or "None"),
                )
                for place in folder.glob(f"version-*/{META}")
                if (each := _meta(place)).get("version")
            ]
            named = _texts(folder / "aliases").items()
            aliases = {alias: int(version) for alias, version in named if version.isdigit()}
            made = sorted(versions, key=lambda version: version.version)
            name, said = str(meta.get("name", folder.name)), str(meta.get("description") or "")
            found.append(SourceModel(name, said, _texts(folder / "tags"), aliases, made))
        return found

    def left_out(self) -> dict[str, int]:
        traces = len(list(self._root.glob("*/traces/*/trace_info.yaml")))
        return {"traces": traces} if traces else {}

    def _folder(self, experiment_id: str) -> Path:
        here = self._root / experiment_id
        return here if here.is_dir() else self._root / ".trash" / experiment_id

    def _run(self, run: SourceRun) -> Path:
        return self._folder(run.experiment_id) / run.id


def _meta(file: Path) -> dict[str, Any]:
    try:
        found = yaml.safe_load(file.read_text("utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise CommandError(f"{file} cannot be read: {error}.", code="bad_source") from None
    return found if isinstance(found, dict) else {}


def _below(root: Path, prefix: str) -> Iterator[tuple[str, Opened]]:
    for each in sorted(root.rglob("*")) if root.is_dir() else ():
        if each.is_file():
            yield prefix + each.relative_to(root).as_posix(), partial(open_binary, each)


def _names(folder: Path) -> list[str]:
    return [each.relative_to(folder).as_posix() for each in folder.rglob("*") if each.is_file()]


def _texts(folder: Path) -> dict[str, str]:
    if not folder.is_dir():
        return {}
    return {name: (folder / name).read_text("utf-8", "replace") for name in sorted(_names(folder))}
