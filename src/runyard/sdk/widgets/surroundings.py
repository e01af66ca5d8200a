"""What the widget shows beside a run itself: its machine, its ranks, its children, what became of its models.

Each is asked for only where the run has it, and comes in a bounded size. What cannot be had is left out: the widget
shows the run all the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Sequence, cast

from runyard.client.http import quote
from runyard.contracts.documents import MetricDocument, RunDocument
from runyard.contracts.journal import EVENTS, SYSTEM
from runyard.contracts.observed import load
from runyard.sdk.exceptions import AzureMLException
from runyard.sdk.widgets.tails import tail
from runyard.sdk.workspace.service import Service

OBSERVED = (load.CPU_RUN, load.MEMORY_RUN, load.gpu(0, load.GPU_BUSY), load.gpu(0, load.GPU_MEMORY))
EVENT_CURVES = 8
POINTS = 60
CHILDREN = 20
RANKS = 16
SIDE_BY_SIDE, TAIL = 8, 4 << 10
"""So many ranks are shown with the end of their logs, and so many bytes of each."""
MODELS = 5
SWEEP = "hyperdrive"
_RANK_LOG = "user_logs/std_log_process_"


@dataclass(frozen=True)
class ServedModel:
    """A model that was registered from the run, and the services that it is in: name, state, address."""

    id: str
    services: Sequence[tuple[str, str, str]] = ()


@dataclass(frozen=True)
class Rank:
    """A process of a run of many, its log and the end of that; of the ranks after the first few the name alone."""

    number: int
    log: str
    tail: str = ""


@dataclass(frozen=True)
class Surroundings:
    observed: Sequence[MetricDocument] = ()  # of the machine
    events: Sequence[MetricDocument] = ()  # from event files
    ranks: Sequence[Rank] = ()
    sweep: dict[str, Any] | None = None
    children: Sequence[RunDocument] = ()
    models: Sequence[ServedModel] = ()


NOTHING = Surroundings()


def look_around(service: Service, run: RunDocument) -> Surroundings:
    address = f"/api/runs/{quote(run['id'])}"
    if run["started_at"] is None:
        return Surroundings()
    sweep = service.get(f"{address}/sweep") if run["type"] == SWEEP else None
    children = [] if sweep is not None else service.get("/api/runs", {"parent": run["id"], "limit": CHILDREN})["runs"]
    return Surroundings(
        _series(service, address, run["id"], SYSTEM, OBSERVED),
        _series(service, address, run["id"], EVENTS, None),
        _ranks(service, run["id"], run.get("logs", [])),
        cast("dict[str, Any] | None", sweep),
        cast("list[RunDocument]", children),
        [_served(service, run["workspace"], id) for id in run.get("models", [])[:MODELS]],
    )


def _series(
    service: Service, address: str, run_id: str, source: str, wanted: Sequence[str] | None
) -> list[MetricDocument]:
    """Series of one source; of the machine there are many, of which a few are asked for by name."""
    found: list[MetricDocument] = []
    for name in wanted or (None,):
        if name is not None and name.startswith(load.GPU) and not found:
            break  # nothing was recorded at all
        asked: dict[str, str | int | None] = {"source": source, "buckets": POINTS, "limit": EVENT_CURVES, "name": name}
        found += service.get(f"{address}/metrics", asked)["metrics"].get(run_id, [])
    return found


def _ranks(service: Service, run_id: str, logs: Sequence[str]) -> list[Rank]:
    found = []
    for name in logs:
        number = name[len(_RANK_LOG) : -len(".txt")]
        if name.startswith(_RANK_LOG) and number.isdigit():
            found.append(Rank(int(number), name))
    ranks = sorted(found, key=lambda rank: rank.number)[:RANKS]
    if len(ranks) < 2:  # the widget shows the log of a single one as it is
        return []
    shown = [Rank(rank.number, rank.log, tail(service, run_id, rank.log, TAIL)) for rank in ranks[:SIDE_BY_SIDE]]
    return shown + ranks[SIDE_BY_SIDE:]


def _served(service: Service, workspace: str, id: str) -> ServedModel:
    name, _, version = id.rpartition(":")
    place = f"/api/workspaces/{quote(workspace)}"
    try:
        model = service.get(f"{place}/models/{quote(name)}/{quote(version)}")
        services = [service.get(f"{place}/services/{quote(each)}") for each in model["services"][:MODELS]]
    except AzureMLException:
        return ServedModel(id)  # it was deleted meanwhile
    return ServedModel(id, [(each["name"], each["state"], each["scoring_uri"]) for each in services])
