"""Carrying a history from a source to a server that speaks MLflow's protocol, run by run.

Each run that was begun has a tag with the id that it has in the source, and another one once it is there whole. So the
same command goes on where it was interrupted: what is whole is passed over, and of the rest what is missing is sent.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import BinaryIO

from runyard.cli.transfer.records import (
    Opened,
    Source,
    SourceExperiment,
    SourceModel,
    SourceRun,
    SourceVersion,
    Summary,
)
from runyard.cli.transfer.rest import PIECE, PROXIED, Json, MlflowServer, Refusal

FROM, STATE, VERSION = "runyard.carried.from", "runyard.carried", "runyard.carried.version"
BEGUN, WHOLE = "begun", "whole"
PARENT = "mlflow.parentRunId"
AT_ONCE = 1000
PARAMETERS = 100
SHOWN = 20

_OF_LOGGED = re.compile(r".*?\b(m-[0-9a-f]{32})\b.*", re.DOTALL)

Say = Callable[[str], None]


class Transfer:
    """`keep_ids`: the target lets runs keep the ids that they have in the source."""

    def __init__(self, source: Source, target: MlflowServer, keep_ids: bool, say: Say) -> None:
        self._source, self._target, self._keep_ids, self._say = source, target, keep_ids, say
        self._ids: dict[str, str] = {}  # of runs in the target, by those in the source
        self.summary = Summary()

    def everything(self) -> Summary:
        for experiment in self._source.experiments():
            self.experiment(experiment)
        logged = self._source.logged_models()
        for model in self._source.models():
            self._model(model, logged)
        for what, count in self._source.left_out().items():
            self.summary.lost.append(f"{count} {what} are not carried over: there is no place for them yet.")
        return self.summary

    def experiment(self, experiment: SourceExperiment, only: SourceRun | None = None) -> None:
        id = self._experiment(experiment)
        known = self._carried(id)
        for run in [only] if only is not None else self._source.runs(experiment):
            there = known.get(run.id)
            if there is not None and there[1] == WHOLE:
                self._ids[run.id] = there[0]
                self.summary.skipped += 1
                continue
            try:
                self._run(run, id, there[0] if there else None)
            except Refusal as error:
                self.summary.lost.append(f"Run {run.id} of {experiment.name!r}: {error}")
        if experiment.deleted:
            self._target.call("POST", "experiments/delete", {"experiment_id": id})

    # -- runs ---------------------------------------------------------------------------------------------------------

    def _experiment(self, experiment: SourceExperiment) -> str:
        try:
            found = self._target.call("GET", "experiments/get-by-name", experiment_name=experiment.name)["experiment"]
            if found.get("lifecycle_stage") == "deleted":
                self._target.call("POST", "experiments/restore", {"experiment_id": found["experiment_id"]})
            return str(found["experiment_id"])
        except Refusal as error:
            if error.error != "RESOURCE_DOES_NOT_EXIST":
                raise
        tags = [{"key": key, "value": value} for key, value in experiment.tags.items()]
        self.summary.experiments += 1
        made = self._target.call("POST", "experiments/create", {"name": experiment.name, "tags": tags})
        return str(made["experiment_id"])

    def _carried(self, experiment_id: str) -> dict[str, tuple[str, str]]:
        """The runs of an experiment that were begun before: their ids in the target, and how far they are."""
        found = self._target.pages(
            "runs",
            "POST",
            "runs/search",
            experiment_ids=[experiment_id],
            filter=f"tags.`{FROM}` LIKE '%'",
            run_view_type="ALL",
            max_results=AT_ONCE,
        )
        known = {}
        for each in found:
            tags = {tag["key"]: tag.get("value", "") for tag in each["data"].get("tags") or ()}
            known[tags[FROM]] = (str(each["info"]["run_id"]), tags.get(STATE, BEGUN))
        return known

    def _run(self, run: SourceRun, experiment_id: str, there: str | None) -> None:
        self._say(f"{run.id} {run.name}")
        id = there or self._begin(run, experiment_id)
        self._ids[run.id] = id
        given = [{"key": key, "value": value} for key, value in run.parameters.items()]
        for start in range(0, len(given), PARAMETERS):
            self._target.call("POST", "runs/log-batch", {"run_id": id, "params": given[start : start + PARAMETERS]})
        for metric in run.metrics:
            self._metric(run, id, metric, resume=there is not None)
        self._files(run, id)
        end: Json = {"run_id": id, "status": run.status if run.status not in ("RUNNING", "SCHEDULED") else "KILLED"}
        if run.status != end["status"]:
            self.summary.lost.append(f"Run {run.id} was {run.status} in the source: here it is {end['status']}.")
        if run.end_time is not None:
            end["end_time"] = run.end_time
        self._target.call("POST", "runs/update", end)
        self._target.call("POST", "runs/set-tag", {"run_id": id, "key": STATE, "value": WHOLE})
        if run.deleted:
            self._target.call("POST", "runs/delete", {"run_id": id})
        self.summary.runs += 1

    def _begin(self, run: SourceRun, experiment_id: str) -> str:
        tags = {**run.tags, FROM: run.id, STATE: BEGUN}
        parent = tags.get(PARENT)
        if parent is not None:
            if parent in self._ids:
                tags[PARENT] = self._ids[parent]
            else:
                del tags[PARENT]
                self.summary.lost.append(f"Run {run.id} is a child of {parent}, which is not in the source.")
        request: Json = {
            "experiment_id": experiment_id,
            "user_id": run.user,
            "run_name": run.name,
            "start_time": run.start_time,
            "tags": [{"key": key, "value": value} for key, value in tags.items()],
        }
        if self._keep_ids:
            try:
                made = self._target.call("POST", "runs/create", {**request, "run_id": run.id})
                return str(made["run"]["info"]["run_id"])
            except Refusal as error:
                if error.error not in ("RESOURCE_ALREADY_EXISTS", "INVALID_PARAMETER_VALUE"):
                    raise
                self.summary.lost.append(f"Run {run.id} gets another id here: {error}")
        return str(self._target.call("POST", "runs/create", request)["run"]["info"]["run_id"])

    def _metric(self, run: SourceRun, id: str, metric: str, resume: bool) -> None:
        points = self._source.history(run, metric)
        sent = 0
        if resume:
            there = self._target.call("GET", "metrics/get-history", run_id=id, metric_key=metric)
            sent = len(there.get("metrics") or ())
        for start in range(sent, len(points), AT_ONCE):
            some = [
                {"key": metric, "value": _number(value), "timestamp": time, "step": step}
                for value, time, step in points[start : start + AT_ONCE]
            ]
            self._target.call("POST", "runs/log-batch", {"run_id": id, "metrics": some})
        self.summary.points += max(0, len(points) - sent)

    def _files(self, run: SourceRun, id: str) -> None:
        root = ""
        try:
            for path, opened in self._source.files(run):
                if not root:
                    info = self._target.call("GET", "runs/get", run_id=id)["run"]["info"]
                    root = str(info["artifact_uri"])
                    if not root.startswith(PROXIED):
                        raise ValueError(f"the target stores files in {root}, and does not take them itself")
                    root = root[len(PROXIED) :].lstrip("/")
                self._file(f"{root}/{path}", opened)
        except ValueError as error:
            self.summary.lost.append(f"The files of run {run.id}: {error}.")

    def _file(self, path: str, opened: Opened) -> None:
        with opened() as file:
            self._target.put_file(path, self._counted(file))
        self.summary.files += 1

    def _counted(self, file: BinaryIO) -> Iterator[bytes]:
        while piece := file.read(PIECE):
            self.summary.bytes += len(piece)
            yield piece

    # -- models -------------------------------------------------------------------------------------------------------

    def _model(self, model: SourceModel, logged: dict[str, tuple[str, str]]) -> None:
        tags = [{"key": key, "value": value} for key, value in model.tags.items()]
        try:
            made = {"name": model.name, "description": model.description, "tags": tags}
            self._target.call("POST", "registered-models/create", made)
            self.summary.models += 1
        except Refusal as error:
            if error.error != "RESOURCE_ALREADY_EXISTS":
                self.summary.lost.append(f"The model {model.name!r}: {error}")
                return
        numbers = self._versions(model.name)
        for version in model.versions:
            if version.version in numbers:
                continue
            number = self._version(model.name, version, logged)
            if number is not None:
                numbers[version.version] = number
                self.summary.versions += 1
                if number != version.version:
                    title = f"Version {version.version} of {model.name!r} is version {number} here."
                    self.summary.lost.append(title)
        for alias, version_number in model.aliases.items():
            if version_number in numbers:
                asked = {"name": model.name, "alias": alias, "version": str(numbers[version_number])}
                self._target.call("POST", "registered-models/alias", asked)

    def _versions(self, name: str) -> dict[int, int]:
        """The versions that were carried before: their numbers here, by those in the source."""
        found = self._target.pages("model_versions", "GET", "model-versions/search", filter=f"name = '{name}'")
        known = {}
        for each in found:
            tags = {tag["key"]: tag.get("value", "") for tag in each.get("tags") or ()}
            if tags.get(VERSION, "").isdigit():
                known[int(tags[VERSION])] = int(each["version"])
        return known

    def _version(self, name: str, version: SourceVersion, logged: dict[str, tuple[str, str]]) -> int | None:
        place = _place(version, logged)
        if place is None or place[0] not in self._ids:
            self.summary.lost.append(
                f"Version {version.version} of {name!r}: its files ({version.source}) are those of no run that was "
                "carried over."
            )
            return None
        run_id = self._ids[place[0]]
        tags = {**version.tags, VERSION: str(version.version)}
        request = {
            "name": name,
            "source": f"runs:/{run_id}/{place[1]}",
            "run_id": run_id,
            "description": version.description,
            "tags": [{"key": key, "value": value} for key, value in tags.items()],
        }
        try:
            made = self._target.call("POST", "model-versions/create", request)["model_version"]
            if version.stage not in ("", "None"):
                staged = {"name": name, "version": made["version"], "stage": version.stage}
                self._target.call("POST", "model-versions/transition-stage", staged)
            return int(made["version"])
        except Refusal as error:
            self.summary.lost.append(f"Version {version.version} of {name!r}: {error}")
            return None


def _place(version: SourceVersion, logged: dict[str, tuple[str, str]]) -> tuple[str, str] | None:
    """The run in the source, and the path among its files, that a version was registered from."""
    model = _OF_LOGGED.fullmatch(version.source)
    if model is not None and model[1] in logged:
        return logged[model[1]]
    if version.source.startswith("runs:/"):
        run, _, path = version.source[len("runs:/") :].lstrip("/").partition("/")
    else:
        before, _, path = version.source.partition("/artifacts/")
        run = before.rpartition("/")[2]
    path = path.rstrip("/")
    return (run, path) if run and path else None


def _number(value: float) -> float | str:
    if value - value == 0:
        return value
    return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
