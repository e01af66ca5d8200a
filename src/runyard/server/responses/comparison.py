"""Several runs beside one another: a row for each thing that can differ, with the value of each run."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from runyard.contracts.data import seen
from runyard.server.responses.documents import Json

Values = dict[str, Any]

_REQUIREMENT = re.compile(r"([A-Za-z0-9][\w.\-]*)(\[[^\]]*\])?\s*(.*)", re.DOTALL)


def rows(runs: Sequence[Json], metrics: Mapping[str, Sequence[Json]]) -> list[Json]:
    """The rows, group by group. Each run is a document with `definition` and `launch`."""
    found: list[Json] = []
    groups: dict[str, Callable[[Json], Values]] = {
        "run": _facts,
        "parameters": lambda run: dict(run.get("parameters") or {}),
        "metrics": lambda run: _last(metrics.get(run["id"], ())),
        "tags": lambda run: dict(run["tags"]),
        "environment": lambda run: _environment(_launch(run).get("environment") or {}),
        "data": _data,
    }
    for group, read in groups.items():
        by_run = [read(run) for run in runs]
        for name in dict.fromkeys(name for values in by_run for name in values):
            values = [each.get(name) for each in by_run]
            same = all(value == values[0] for value in values)
            found.append({"group": group, "name": name, "values": values, "same": same})
    return found


def _launch(run: Json) -> Json:
    launch: Json | None = run.get("launch")
    return launch or {}


def _facts(run: Json) -> Values:
    launch, properties = _launch(run), run["properties"]
    distribution = launch.get("distribution") or {}
    processes = distribution.get("processes")
    facts = {
        "status": run["status"],
        "experiment": run["experiment"],
        "seconds": _seconds(run),
        "script": launch.get("script") or launch.get("command"),
        "compute": run["target"],
        "nodes": run["nodes"],
        "processes": processes or None,
        "snapshot": run["snapshot_id"],
        "git commit": properties.get("azureml.git.commit"),
        "git dirty": properties.get("azureml.git.dirty"),
    }
    return {name: value for name, value in facts.items() if value is not None}


def _seconds(run: Json) -> float | None:
    if not run["started_at"] or not run["ended_at"]:
        return None
    begun, ended = (datetime.fromisoformat(run[key].replace("Z", "+00:00")) for key in ("started_at", "ended_at"))
    return round((ended - begun).total_seconds(), 3)


def _last(metrics: Sequence[Json]) -> Values:
    """The last value of each series. One of a single point comes as that, without buckets."""
    found: Values = {}
    for metric in metrics:
        if metric.get("buckets"):
            found[metric["name"]] = metric["buckets"][-1]["last"]
        elif metric["kind"] == "values" and metric.get("values"):
            found[metric["name"]] = metric["values"][-1]
    return found


def _environment(specification: Json) -> Values:
    if specification.get("user_managed"):
        return {"interpreter": specification.get("interpreter") or "python"}
    values: Values = {"python": specification["python"]} if specification.get("python") else {}
    for line in (*(specification.get("conda") or ()), *(specification.get("pip") or ())):
        found = _REQUIREMENT.match(line)
        name, version = (found[1], found[3]) if found else (line, "")
        values[name.lower().replace("_", "-")] = version or "any"
    for key in ("image", "dockerfile"):
        if specification.get(key) and not values:
            values[key] = specification[key]
    return values


def _data(run: Json) -> Values:
    """What each input was, and a digest of what the run saw of it."""
    values: Values = {each["name"]: each["dataset"] for each in _launch(run).get("inputs") or ()}
    for key, text in run["properties"].items():
        if key.startswith(seen.PREFIX) and text:
            record = json.loads(text)
            name = key[len(seen.PREFIX) :]
            values[f"{name}: files"] = record["files"]
            values[f"{name}: digest"] = record["digest"]
    return values
