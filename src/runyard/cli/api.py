"""The parts of the HTTP API that the commands use, with names and types. One connection, no state of its own."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

from runyard.cli import errors
from runyard.client.http import Client, ClientProblem, Event, Locator, quote
from runyard.contracts import home as homes
from runyard.sdk.run.events import follow
from runyard.sdk.run.listing import tell_of_damage
from runyard.sdk.workspace.service import Service, find_service

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from runyard.contracts.documents import (
        ComputeDocument,
        EnvironmentDocument,
        EnvironmentMapDocument,
        ExperimentDocument,
        ExperimentUsage,
        FileDocument,
        Freed,
        MetricDocument,
        ModelUsage,
        NodeDocument,
        RetentionDocument,
        RetentionStep,
        RunDocument,
        Usage,
    )

NEWEST = ("@last", "-")
PAGE = 500
CLUSTER_SECONDS = 180.0
"""How long a request may take that has to wait for a cluster."""

RETENTION_SECONDS = 600.0
"""How long a server may take to drop the logs and series of some runs, or to add up their sizes."""


class Api:
    """Requests to one server. What it refuses comes out as `ClientProblem`."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.client = service.client

    def runs(
        self,
        experiment: str | None = None,
        status: str | None = None,
        tags: Sequence[str] = (),
        children: bool = False,
        type: str | None = None,
        short: str | None = None,
        part: str | None = None,
        before: datetime | None = None,
        order: str | None = None,
        sizes: bool = False,
        services: bool = False,
        counts: bool = False,
        parameters: Sequence[str] = (),
        page: int = PAGE,
    ) -> Iterator[RunDocument]:
        """Runs, from the newest on or in another order, fetched page by page on demand."""
        after: str | None = None
        while True:
            answer = self.client.get(
                "/api/runs",
                {
                    "experiment": experiment,
                    "status": status,
                    "tag": list(tags),
                    "parameter": list(parameters),
                    "include_children": children,
                    "type": type,
                    "short": short,
                    "part": part,
                    "before": None if before is None else before.isoformat(),
                    "order": order,
                    "sizes": sizes or None,
                    "children": counts or None,
                    "services": services or None,
                    "limit": page,
                    "after": after,
                },
            )
            yield from answer["runs"]
            tell_of_damage(answer)
            after = answer["next"]
            if after is None:
                return

    def run(self, run_id: str, counts: bool = False) -> RunDocument:
        """A run with its details; with `counts`, how many children it has."""
        found: RunDocument = self.client.get(f"/api/runs/{quote(run_id)}", {"children": counts or None})
        return found

    def find(self, text: str) -> RunDocument:
        """The run that a user means: an id, a part of one that fits one run only, or the newest.

        A beginning and the last part come before any other part.
        """
        if text in NEWEST:
            newest = next(self.runs(page=1), None)
            if newest is None:
                raise errors.CommandError(
                    "There is no run yet.", "`runyard submit train.py` starts one.", errors.NOT_FOUND, "run_not_found"
                )
            return newest
        if not text.strip():
            raise errors.CommandError(
                "The name of the run is empty.", "`runyard ls` lists the runs.", errors.USAGE, "usage"
            )
        try:
            return self.run(text, counts=True)
        except ClientProblem as problem:
            if problem.code != "run_not_found":
                raise
        # The ids of a sweep's children begin with its own.
        first = list(itertools.islice(self.runs(short=text), 4))
        first = first or list(itertools.islice(self.runs(children=True, short=text), 4)) or self._with_part(text)
        if len(first) == 1:
            return first[0]
        if not first:
            raise errors.CommandError(
                f"There is no run {text!r}.", "`runyard ls` lists the runs.", errors.NOT_FOUND, "run_not_found"
            )
        named = ", ".join(run["id"] for run in first[:3]) + (", ..." if len(first) > 3 else "")
        raise errors.CommandError(
            f"{text!r} fits more than one run: {named}.", "Give more of the id.", errors.NOT_FOUND, "run_ambiguous"
        )

    def _with_part(self, text: str) -> list[RunDocument]:
        """A few runs with this in their ids; filtered again here, since older servers ignore `part`."""
        found = itertools.islice(self.runs(children=True, part=text, page=4), 4)
        return [run for run in found if text.lower() in run["id"].lower()]

    def newest(self, count: int) -> list[RunDocument]:
        return list(itertools.islice(self.runs(children=True, page=count), count))

    def sweep(self, run_id: str) -> dict[str, Any]:
        """How the children of a sweep stand."""
        found: dict[str, Any] = self.client.get(f"/api/runs/{quote(run_id)}/sweep")
        return found

    def cancel(self, run_id: str) -> RunDocument:
        run: RunDocument = self.client.post(f"/api/runs/{quote(run_id)}/cancel", idempotent=True)
        return run

    def preempt(self, run_id: str) -> RunDocument:
        run: RunDocument = self.client.post(f"/api/runs/{quote(run_id)}/preempt")
        return run

    def delete_run(self, run_id: str) -> Freed:
        freed: Freed = self.client.delete(f"/api/runs/{quote(run_id)}")
        return freed

    def files(self, run_id: str) -> list[FileDocument]:
        found: list[FileDocument] = self.client.get(f"/api/runs/{quote(run_id)}/files")["files"]
        return found

    def read(self, run_id: str, name: str, offset: int = 0) -> Iterator[bytes]:
        """The bytes of a file of the run from `offset` to where it ends now; ConnectionError when they break off."""
        headers = {"Range": f"bytes={offset}-"} if offset else {}
        with self.client.stream(f"/api/runs/{quote(run_id)}/files/{quote(name)}", headers=headers) as answer:
            left = answer.length
            for chunk in answer:
                left = None if left is None else left - len(chunk)
                yield chunk
        if left:
            raise ConnectionError(f"The server at {self.client.url} went away in the middle of {name!r}.")

    def download(self, run_id: str, name: str, path: Path, moved: Callable[[int], None]) -> int:
        """Download a file of the run, whole and verified; returns its size. `moved` gets the count of new bytes."""
        from runyard.sdk.run.file_transfer import download

        return download(self.service, run_id, name, path, moved=moved)

    def metrics(
        self, run_id: str, name: str | None = None, buckets: int | None = None, by_rank: bool = False
    ) -> list[MetricDocument]:
        params = {"name": name, "buckets": buckets, "by_rank": by_rank or None}
        answer = self.client.get(f"/api/runs/{quote(run_id)}/metrics", params)
        found: list[MetricDocument] = answer["metrics"].get(run_id, [])
        return found

    def table(
        self, workspace: str, filter: str, sort: str, metrics: Sequence[str], children: bool, limit: int
    ) -> list[dict[str, Any]]:
        """Runs that a sentence finds, in an order by any column, with the last values of some metrics."""
        found: list[dict[str, Any]] = []
        while len(found) < limit:
            asked = {"filter": filter, "sort": sort, "metric": list(metrics), "children": children or None}
            place = {"limit": min(500, limit - len(found)), "offset": len(found)}
            answer = self.client.get(f"{_of(workspace)}/table", {**asked, **place})
            found += answer["runs"]
            if not answer["more"]:
                break
        return found

    def studio_link(self) -> dict[str, Any]:
        """A link that signs one browser in, and when it expires."""
        made: dict[str, Any] = self.client.post("/api/studio/links")
        return made

    def end_studio_sessions(self) -> int:
        """Sign every browser out; how many were signed in."""
        return int(self.client.delete("/api/studio/sessions")["ended"])

    def compare(self, run_ids: Sequence[str]) -> dict[str, Any]:
        """Several runs, and a row for each thing that can differ."""
        answer: dict[str, Any] = self.client.get("/api/comparisons", {"run": list(run_ids)})
        return answer

    def source_diff(self, run_ids: Sequence[str]) -> list[dict[str, Any]]:
        """The files that differ between the source of two runs."""
        found: list[dict[str, Any]] = self.client.get("/api/comparisons/source", {"run": list(run_ids)})["files"]
        return found

    def loads(self) -> dict[str, Any]:
        """The live runs of all workspaces, with what their nodes are doing."""
        found = [self.client.get(f"{_of(workspace)}/load")["runs"] for workspace in self.workspaces()]
        return {"runs": [run for some in found for run in some]}

    def make(self, request: dict[str, Any]) -> RunDocument:
        """Make a run of a request that names all it needs."""
        made: RunDocument = self.client.post("/api/runs", request)
        return made

    def events(self, run_id: str) -> Iterator[Event]:
        """The events of a run, from its present state to its end, through restarts of the server."""
        return follow(self.service, run_id)

    def wait(self, run_id: str) -> RunDocument:
        """Wait for a run's end and return it."""
        for _ in self.events(run_id):
            pass
        return self.run(run_id)

    def experiment(self, name: str) -> ExperimentDocument:
        """The experiment of that name, archived or not, in whichever workspace it is."""
        found: list[ExperimentDocument] = [
            experiment
            for workspace in self.workspaces()
            for experiment in self.client.get(f"{_of(workspace)}/experiments", {"view": "All", "name": name})[
                "experiments"
            ]
        ]
        if not found:
            raise errors.CommandError(
                f"There is no experiment {name!r}.",
                "`runyard ls` shows the experiments of the latest runs.",
                errors.NOT_FOUND,
                "experiment_not_found",
            )
        if len(found) > 1:
            places = ", ".join(experiment["workspace"] for experiment in found)
            raise errors.CommandError(
                f"Experiment {name!r} is in several workspaces: {places}.",
                "Delete it with Experiment.delete of the SDK, which knows its workspace.",
                errors.NOT_FOUND,
                "experiment_ambiguous",
            )
        return found[0]

    def experiments(self) -> list[ExperimentDocument]:
        """Those of all workspaces that are not archived, the newest of each first."""
        found = [self.client.get(f"{_of(workspace)}/experiments")["experiments"] for workspace in self.workspaces()]
        return [experiment for some in found for experiment in some]

    def usage(self, run_ids: Sequence[str] = (), experiment_id: str | None = None) -> Usage:
        """The space that runs and their descendants, or an experiment, take together."""
        wanted = {"runs": list(run_ids), "experiment_id": experiment_id}
        found: Usage = self.client.post("/api/usage", wanted, idempotent=True)
        return found

    def all_usage(self) -> tuple[list[ExperimentUsage], list[ModelUsage]]:
        """What the experiments take, and what the models do, the largest first."""
        found = self.client.get("/api/usage")
        return found["experiments"], found["models"]

    def models(self, versions: bool = False) -> list[str]:
        """The names of the models of all workspaces, or the ids of their versions, newest first."""
        found: list[str] = []
        for place in self.workspaces():
            params = {"latest": not versions, "limit": 1000}
            listed = self.client.get(f"/api/workspaces/{quote(place)}/models", params)["models"]
            found += [each["id" if versions else "name"] for each in listed]
        return found

    def names(self, kind: Literal["services", "datasets", "datastores"]) -> list[str]:
        """What the things of one kind are called, in all workspaces."""
        found = [self.client.get(f"{_of(place)}/{kind}")[kind] for place in self.workspaces()]
        return [str(each["name"]) for some in found for each in some]

    def delete_experiment(self, experiment_id: str) -> Freed:
        freed: Freed = self.client.delete(f"/api/experiments/{quote(experiment_id)}")
        return freed

    def environment(self, workspace: str, name: str, version: str | None = None) -> EnvironmentDocument:
        found: EnvironmentDocument = self.client.get(
            f"{_of(workspace)}/environments/{quote(name)}", {"version": version}
        )
        return found

    def workspaces(self) -> list[str]:
        return [str(workspace["name"]) for workspace in self.client.get("/api/workspaces")["workspaces"]]

    def targets(self, workspace: str, timeout: float = CLUSTER_SECONDS) -> list[ComputeDocument]:
        """The compute targets of a workspace, `local` first."""
        found: list[ComputeDocument] = self.client.get(f"{_of(workspace)}/compute", timeout=timeout)["targets"]
        return found

    def target(self, workspace: str, name: str) -> ComputeDocument:
        found: ComputeDocument = self.client.get(_target(workspace, name), timeout=CLUSTER_SECONDS)
        return found

    def make_target(self, workspace: str, wanted: dict[str, Any]) -> ComputeDocument:
        made: ComputeDocument = self.client.post(f"{_of(workspace)}/compute", wanted, timeout=CLUSTER_SECONDS)
        return made

    def change_target(self, workspace: str, name: str, changes: dict[str, Any]) -> ComputeDocument:
        changed: ComputeDocument = self.client.patch(_target(workspace, name), changes, timeout=CLUSTER_SECONDS)
        return changed

    def delete_target(self, workspace: str, name: str) -> ComputeDocument:
        # Not retried: a second request would fail because the first has removed the target.
        removed: ComputeDocument = self.client.delete(
            _target(workspace, name), idempotent=False, timeout=CLUSTER_SECONDS
        )
        return removed

    def nodes(self, workspace: str, name: str) -> list[NodeDocument]:
        answer = self.client.get(f"{_target(workspace, name)}/nodes", timeout=CLUSTER_SECONDS)
        found: list[NodeDocument] = answer["nodes"]
        return found

    def maps(self, workspace: str) -> list[EnvironmentMapDocument]:
        """The environment maps of a workspace, in the order in which they are tried."""
        found: list[EnvironmentMapDocument] = self.client.get(f"{_of(workspace)}/environment-maps")["maps"]
        return found

    def put_map(
        self, workspace: str, pattern: str, interpreter: str | None = None, definition: dict[str, Any] | None = None
    ) -> list[EnvironmentMapDocument]:
        target = {"interpreter": interpreter} if interpreter is not None else {"definition": definition}
        answer = self.client.put(f"{_of(workspace)}/environment-maps", {"pattern": pattern, **target})
        found: list[EnvironmentMapDocument] = answer["maps"]
        return found

    def delete_map(self, workspace: str, pattern: str) -> list[EnvironmentMapDocument]:
        # Not retried: a second request would fail because the first has removed the pattern.
        answer = self.client.delete(f"{_of(workspace)}/environment-maps", params={"pattern": pattern}, idempotent=False)
        found: list[EnvironmentMapDocument] = answer["maps"]
        return found

    def settings(self, workspace: str) -> dict[str, str]:
        found: dict[str, str] = self.client.get(f"{_of(workspace)}/settings")["settings"]
        return found

    def put_setting(self, workspace: str, key: str, value: str) -> dict[str, str]:
        found: dict[str, str] = self.client.put(f"{_of(workspace)}/settings/{quote(key)}", {"value": value})["settings"]
        return found

    def delete_setting(self, workspace: str, key: str) -> dict[str, str]:
        found: dict[str, str] = self.client.delete(f"{_of(workspace)}/settings/{quote(key)}")["settings"]
        return found

    def retention(self, workspace: str, logs: str | None = None, series: str | None = None) -> RetentionDocument:
        params = {"logs": logs, "series": series}
        found: RetentionDocument = self.client.get(
            f"{_of(workspace)}/retention", params=params, timeout=RETENTION_SECONDS
        )
        return found

    def apply_retention(self, workspace: str) -> RetentionStep:
        found: RetentionStep = self.client.post(f"{_of(workspace)}/retention", timeout=RETENTION_SECONDS)
        return found


def _of(workspace: str) -> str:
    return f"/api/workspaces/{quote(workspace)}"


def _target(workspace: str, name: str) -> str:
    return f"{_of(workspace)}/compute/{quote(name)}"


def connect() -> Api:
    """The server to use: RUNYARD_SERVER, or this machine's own, which is started if it does not run."""
    return Api(find_service())


def connect_if_running(folder: Path, timeout: float) -> Api | None:
    """The server to use, if one is running or configured: none is started, and no request is retried."""
    named = os.environ.get("RUNYARD_SERVER")
    if named:
        locator = Locator(named.rstrip("/"), os.environ.get("RUNYARD_TOKEN"))
    else:
        running = homes.read_server(folder)
        if running is None:
            return None
        locator = Locator(running.url, homes.read_token(folder))
    return Api(Service(Client(locator, timeout=timeout, patience=0)))
