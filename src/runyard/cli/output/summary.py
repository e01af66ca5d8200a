"""The description of a run that `show` prints, and what `submit --follow` ends with."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from runyard.cli.output import formatting, screen
from runyard.contracts import journal, states
from runyard.contracts.distribution import PLAIN, PYTORCH, TENSORFLOW, Distribution
from runyard.contracts.history import of_attempt, user_log

if TYPE_CHECKING:
    from runyard.contracts.documents import FileDocument, MetricDocument, RunDocument

SHOWN_FILES = 20
SHOWN_PARAMETERS = 40
LONGEST_VALUE = 200
SYSTEM_TAG = "_aml_system_"
"""How tags begin that are there for programs alone."""
WAITING = (states.NOT_STARTED, states.QUEUED, states.PROVISIONING)
_STOPPED = (states.CANCELED, states.CANCEL_REQUESTED)


def without_definition(run: RunDocument) -> dict[str, object]:
    """A run for a program that has just described it itself: without the long definition."""
    return {name: value for name, value in run.items() if name != "definition"}


def describe(run: RunDocument) -> Iterator[str]:
    """The run itself: identity, times, what was started, tags, and how it went from state to state."""
    yield f"{screen.heading(run['id'])}  {screen.status(run['status'])}"
    yield from _aligned(_facts(run))
    changes = run.get("states", [])
    if changes:
        yield ""
        yield screen.heading("States")
        width = max(len(change["status"]) for change in changes)
        for change in changes:
            when = formatting.local(formatting.moment(change["at"]))
            yield f"  {when}  {change['status']:{width}}  {change['reason'] or ''}".rstrip()


def _facts(run: RunDocument) -> Iterator[tuple[str, str]]:
    created = formatting.moment(run["created_at"])
    yield "experiment", f"{run['experiment']} (run {run['number']})"
    if run["workspace"] != "local":
        yield "workspace", run["workspace"]
    if run["display_name"]:
        yield "name", run["display_name"]
    if run["description"]:
        yield "description", run["description"]
    if run["parent_id"]:
        yield "parent", run["parent_id"]
    if run.get("children"):
        yield "children", f"{children(run['children'])}; `{formatting.program()} ls --all-children` lists them"
    yield "created", f"{formatting.local(created)} ({formatting.ago(created)})"
    if run["started_at"]:
        yield "took", formatting.lasted(run["started_at"], run["ended_at"]) + ("" if run["ended_at"] else " so far")
    if run["status"] in WAITING and run["reason"]:
        yield "waits", run["reason"]
    if run["target"]:
        yield (
            "compute",
            run["target"] + (f", {formatting.count(run.get('nodes', 1), 'node')}" if run.get("nodes", 1) > 1 else ""),
        )
    if (spread := distribution(run)).gang:
        yield "processes", _processes(spread)
    if run.get("attempt", 1) > 1:
        yield "attempt", _attempt(run)
    if started := _what_was_started(run):
        yield "started", started
    if used := _environment(run):
        yield "environment", used
    if layer := run["properties"].get("runyard.environment.horovod"):
        yield "horovod", layer
    for each in (run.get("launch") or {}).get("inputs") or ():
        yield "input", f"{each['name']}: dataset {each['dataset']} ({each['mode']}){_seen(run, each['name'])}"
    for each in (run.get("launch") or {}).get("outputs") or ():
        yield "output", _output(run, each)
    if run.get("models"):
        yield "models", ", ".join(run["models"])
    yield from _parameters(run.get("parameters") or {})
    if run["snapshot_id"]:
        yield "snapshot", run["snapshot_id"]
    if git := _git(run["properties"]):
        yield "git", git
    tags = {key: value for key, value in run["tags"].items() if not key.startswith(SYSTEM_TAG)}
    if tags:
        yield "tags", ", ".join(key if value is None else f"{key}={value}" for key, value in tags.items())
    if run["web_url"]:
        yield "address", run["web_url"]


def _parameters(given: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """What a script says it was started with, one to a line, as many as are read."""
    for key, value in list(given.items())[:SHOWN_PARAMETERS]:
        text = " ".join(value.split())
        yield "parameter", f"{key} = {text if len(text) <= LONGEST_VALUE else f'{text[:LONGEST_VALUE]}...'}"
    if len(given) > SHOWN_PARAMETERS:
        yield "", f"and {len(given) - SHOWN_PARAMETERS} more (--json has all of them)"


def _seen(run: RunDocument, name: str) -> str:
    """How much of an input the run saw, once that was recorded."""
    from runyard.contracts.data.seen import of_run  # only for the runs that have data

    try:
        found = of_run(run["properties"])[name]
        size = f"{formatting.count(int(found['files']), 'file')}, {formatting.size(int(found['bytes']))}"
        return f", {size}, digest {found['digest'][:12]}"
    except (TypeError, KeyError, ValueError):
        return ""


def _output(run: RunDocument, output: Mapping[str, Any]) -> str:
    """Where an output goes, and what became of it."""
    from runyard.contracts.data.outputs import filled  # not for every command

    where = f"{output['name']}: {output['datastore']}/{filled(output['path'], run['id'], output['name'])}"
    for each in run.get("outputs") or ():
        if each["name"] == output["name"]:
            version = f", {each['registered']} version {each['version']}" if each["registered"] else ""
            partial = "" if each["complete"] else ", what there was when the run ended"
            return f"{where}, dataset {each['dataset']}{version}{partial}"
    return where


def _what_was_started(run: RunDocument) -> str:
    launch = run.get("launch") or {}
    if launch.get("command"):
        return str(launch["command"])
    if launch.get("script"):
        return shlex.join([str(launch["script"]), *map(str, launch.get("arguments") or [])])
    return ""


def _environment(run: RunDocument) -> str:
    """The environment that the run used, or is to use."""
    from runyard.contracts.environment import CURRENT, Specification  # loads what hashes: not for every command

    properties, launch = run["properties"], run.get("launch") or {}
    asked, key = properties.get("runyard.environment.asked"), properties.get("runyard.environment.key")
    mapped = properties.get("runyard.environment.mapped")
    by = f"; mapped by {mapped}" if mapped else ""
    if key:
        python = properties.get("runyard.environment.python")
        more = [
            f"key {key[:12]}",
            *([f"Python {python}"] if python else []),
            properties.get("runyard.environment.used"),
        ]
        return f"{asked or 'without a name'} ({', '.join(filter(None, more))}){by}"
    if Specification.from_dict(launch.get("environment") or {}).kind == CURRENT:
        interpreter = launch.get("interpreter")
        return f"none built: {interpreter}{by}" if interpreter else ""
    return f"{asked or 'without a name'}, not built yet{by}"


def distribution(run: RunDocument) -> Distribution:
    """How the processes of a run are spread over its nodes."""
    return Distribution.from_dict((run.get("launch") or {}).get("distribution") or {})


def _processes(spread: Distribution) -> str:
    ranks = spread.ranks()
    text = formatting.count(len(ranks), "rank")
    if spread.kind != PLAIN:
        text += f", {spread.kind}" + (f" over {spread.backend}" if spread.kind == PYTORCH else "")
    if spread.kind == TENSORFLOW:
        text += f": {formatting.count(spread.workers, 'worker')}"
        text += (
            f" and {formatting.count(spread.parameter_servers, 'parameter server')}" if spread.parameter_servers else ""
        )
    elif spread.nodes > 1:
        text += f", {len(ranks) // spread.nodes} on each node"
    return text


def _attempt(run: RunDocument) -> str:
    from runyard.contracts.compute import RESTARTS  # only for the few runs that were started again

    most = int((run.get("launch") or {}).get("restarts", RESTARTS)) + 1
    former = user_log(of_attempt(run["attempt"] - 1))
    return f"{run['attempt']} of at most {most}; the logs of the one before are in {former}"


def _git(properties: dict[str, str | None]) -> str:
    commit = (properties.get("azureml.git.commit") or "")[:12]
    if not commit:
        return ""
    branch = properties.get("azureml.git.branch")
    changed = " with uncommitted changes" if properties.get("azureml.git.dirty") == "True" else ""
    return f"{branch + ' at ' if branch else ''}{commit}{changed}"


def _aligned(facts: Iterator[tuple[str, str]]) -> Iterator[str]:
    rows = list(facts)
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        yield f"  {name:{width}}  {value}"


def ending(run: RunDocument) -> Iterator[str]:
    """How a run that was followed went, in a line."""
    took = formatting.lasted(run["started_at"], run["ended_at"])
    yield ""
    yield f"{screen.heading(run['id'])}  {screen.status(run['status'])}" + (f" after {took}" if took else "")


def sweep_lines(standing: dict[str, Any]) -> Iterator[str]:
    """The children of a sweep, folded: how many there are of each kind, and the best one."""
    yield ""
    yield screen.heading("Sweep")
    yield f"  {standing['goal']} {standing['metric']}: {sweep_counts(standing)}"
    best = next((each for each in standing["trials"] if each["run_id"] == standing["best"]), None)
    if best is not None:
        yield f"  best {best['run_id']}  {formatting.number(best['best'])}  {given(best['parameters'])}"


def folded(standing: dict[str, Any]) -> str:
    """A sweep in a list of runs: how far it is, and the best value.

    >>> child = {"run_id": "HD_1_0", "status": "Running", "verdict": None, "best": 0.5}
    >>> folded({"runs": 4, "best": "HD_1_0", "trials": [child]})
    'sweep, 1 of 4: 1 running, best 0.5'
    """
    best = next((each["best"] for each in standing["trials"] if each["run_id"] == standing["best"]), None)
    found = f"sweep, {sweep_counts(standing)}"
    return found if best is None else f"{found}, best {formatting.number(best)}"


def given(parameters: Mapping[str, Any]) -> str:
    """What a child of a sweep was given, short.

    >>> given({"lr": 0.07940373441981904, "layers": [64, 32]})
    'lr=0.0794037 layers=[64, 32]'
    """
    return " ".join(
        f"{name}={formatting.number(value) if isinstance(value, float) else json.dumps(value)}"
        for name, value in parameters.items()
    )


def sweep_counts(standing: dict[str, Any]) -> str:
    """How many children of a sweep run, wait, have ended and how.

    >>> sweep_counts({"runs": 4, "trials": [{"status": "Running", "verdict": None}]})
    '1 of 4: 1 running'
    """
    counts: dict[str, int] = {}
    for each in standing["trials"]:
        status = each["status"]
        kind = "stopped early" if each["verdict"] and status in _STOPPED else _kind(status)
        counts[kind] = counts.get(kind, 0) + 1
    shown = ", ".join(f"{count} {kind}" for kind, count in counts.items())
    return f"{len(standing['trials'])} of {standing['runs']}" + (f": {shown}" if shown else "")


def children(counts: Mapping[str, int]) -> str:
    """How many children of a run run, wait, have ended and how.

    >>> children({"Completed": 2, "Preparing": 1, "Running": 1})
    '4 children: 2 completed, 2 running'
    """
    kinds: dict[str, int] = {}
    for status, count in counts.items():
        kinds[_kind(status)] = kinds.get(_kind(status), 0) + count
    total = sum(counts.values())
    shown = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
    return f"{total} {'child' if total == 1 else 'children'}: {shown}"


def _kind(status: str | None) -> str:
    """What is told of a state of a child."""
    if status in WAITING:
        return "waiting"
    if status is None or status in states.TERMINAL:
        return str(status or "deleted").lower()
    return "running"


def error(run: RunDocument) -> Iterator[str]:
    """Why the run failed: the exception, the frames in the user's code, how the process ended, and what to do."""
    for warning in run["warnings"] or []:
        yield f"Warning: {warning['message']}"
    problem = run["error"]
    if not problem:
        return
    from runyard.sdk.run.error import error_lines

    yield ""
    yield screen.heading("Error")
    yield from (f"  {line}" for line in error_lines(problem))


def metrics(found: Sequence[MetricDocument]) -> Iterator[str]:
    """The last value of each metric."""
    if not found:
        return
    yield ""
    yield screen.heading("Metrics")
    width = max(len(metric["name"]) for metric in found)
    for metric in found:
        points = (
            f"  ({formatting.count(metric['count'], 'value')})"
            if metric["kind"] == "values" and metric["count"] > 1
            else ""
        )
        yield f"  {metric['name']:{width}}  {last_value(metric)}{points}"


def last_value(metric: MetricDocument) -> str:
    """The newest value of a metric, of whatever kind."""
    if metric["kind"] == "table":
        newest = [(name, column[-1]) for name, column in metric["columns"].items() if column]
        rows = f"  ({formatting.count(metric['count'], 'row')})" if metric["count"] > 1 else ""
        return ", ".join(f"{name}={formatting.number(journal.unpack_value(value))}" for name, value in newest) + rows
    if metric.get("buckets"):
        return formatting.number(journal.unpack_value(metric["buckets"][-1]["last"]))
    values = metric.get("values") or []
    return formatting.number(journal.unpack_value(values[-1])) if values else ""


def files(found: Sequence[FileDocument]) -> Iterator[str]:
    if not found:
        return
    yield ""
    yield screen.heading("Files")
    for file in found[:SHOWN_FILES]:
        yield f"  {file['name']}  {formatting.size(file['size'])}"
    if len(found) > SHOWN_FILES:
        yield f"  and {formatting.count(len(found) - SHOWN_FILES, 'more file')}"
