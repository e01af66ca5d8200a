"""How many bytes runs, experiments and models take: their files, their logs and their packed metrics.

What two runs share is there once. It counts for each of them where they are listed one by one, and once in a sum.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Connection, Select, func, select, true

from runyard.contracts import manifest
from runyard.store import after_commit, tables
from runyard.store.content import snapshots
from runyard.store.errors import run_not_found
from runyard.store.runs import experiments, runs
from runyard.store.slices import slices

_FILES, _RUNS = tables.files.c, tables.runs.c

Key = TypeVar("Key")

ALL = true()


@dataclass(frozen=True)
class Usage:
    """What several runs take together."""

    runs: int = 0
    bytes: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(self.runs + other.runs, self.bytes + other.bytes)


@dataclass(frozen=True)
class ExperimentUsage:
    id: str
    workspace: str
    name: str
    usage: Usage


def by_run(connection: Connection, run_ids: Sequence[str]) -> dict[str, int]:
    """The bytes of the files and logs of each run; those of a run with none are 0."""
    sizes = dict.fromkeys(run_ids, 0)
    for some in slices(run_ids):
        query = select(_RUNS.id, func.sum(_FILES.size)).join(tables.files).where(_RUNS.id.in_(some)).group_by(_RUNS.id)
        for run_id, size in connection.execute(query):
            sizes[run_id] += int(size)
        for run_id, size in _growing(connection, _RUNS.id, _RUNS.id.in_(some)):
            sizes[run_id] += size
    return sizes


def of_runs(connection: Connection, run_ids: Sequence[str]) -> Usage:
    """What runs take, together with the runs below them."""
    ids = _with_those_below(connection, run_ids)
    objects: dict[str, int] = {}
    others = 0
    for some in slices(sorted(ids)):
        which = _RUNS.id.in_(some)
        named = select(_FILES.digest, _FILES.size).join(tables.runs).where(which, _FILES.digest.is_not(None))
        objects.update((digest, size) for digest, size in connection.execute(named))
        others += sum(size for _, size in _growing(connection, _RUNS.id, which))
        others += int(connection.scalar(_metrics(func.sum(packed())).where(which)) or 0)
    return Usage(len(ids), sum(objects.values()) + others)


def _with_those_below(connection: Connection, run_ids: Sequence[str]) -> set[str]:
    ids: set[str] = set()
    for some in slices(run_ids):
        rows = connection.execute(select(_RUNS.id, _RUNS.root_id).where(_RUNS.id.in_(some)))
        roots: dict[str, str] = {row.id: row.root_id for row in rows}
        for run_id in some:
            if run_id not in roots:
                raise run_not_found(run_id)
            if roots[run_id] != run_id:
                ids.update([run_id, *runs.descendants(connection, run_id)])
        tops = [run_id for run_id, root in roots.items() if root == run_id]
        ids.update(connection.scalars(select(_RUNS.id).where(_RUNS.root_id.in_(tops))))
    return ids


def of_experiment(connection: Connection, id: str) -> Usage:
    experiments.get(connection, id)  # refused when there is none
    return sum((each.usage for each in by_experiment(connection, tables.experiments.c.id == id)), Usage())


def by_experiment(connection: Connection, which: ColumnElement[bool] = ALL) -> list[ExperimentUsage]:
    """What the experiments take, the largest first."""
    these = select(tables.experiments.c.serial).where(which)
    here, experiment = _RUNS.experiment.in_(these), _RUNS.experiment
    whole = select(experiment, _FILES.digest, _FILES.size).join(tables.files).where(here, _FILES.digest.is_not(None))
    once = whole.distinct().subquery().c
    sizes: Counter[int] = Counter()
    for serial, size in (
        *_pairs(connection, select(once.experiment, func.sum(once.size)).group_by(once.experiment)),
        *_pairs(connection, _metrics(experiment, func.sum(packed())).where(here).group_by(experiment)),
        *_growing(connection, experiment, here),
    ):
        sizes[serial] += size
    counts = dict(_pairs(connection, select(experiment, func.count()).where(here).group_by(experiment)))
    named = select(tables.experiments, tables.workspaces.c.name.label("place")).join(tables.workspaces)
    found = [
        ExperimentUsage(row.id, row.place, row.name, Usage(counts.get(row.serial, 0), sizes[row.serial]))
        for row in connection.execute(named.where(which))
    ]
    return sorted(found, key=lambda each: (-each.usage.bytes, each.workspace, each.name))


@dataclass(frozen=True)
class ModelUsage:
    """What the versions of a model take together: a file that several of them have counts once."""

    workspace: str
    name: str
    versions: int
    bytes: int


def by_model(connection: Connection) -> list[ModelUsage]:
    """What the models take, the largest first."""
    model = tables.models.c
    query = select(tables.workspaces.c.name.label("place"), model.name, model.tree).join(tables.workspaces)
    trees: dict[tuple[str, str], list[str]] = {}
    for row in connection.execute(query):
        trees.setdefault((row.place, row.name), []).append(row.tree)
    found = []
    for (place, name), those in trees.items():
        sizes: dict[str, int] = {}
        for tree in set(those):
            entries = manifest.parse(snapshots.manifest_text(connection, tree)).entries
            sizes.update((entry.digest, entry.size) for entry in entries)
        found.append(ModelUsage(place, name, len(those), sum(sizes.values())))
    return sorted(found, key=lambda each: (-each.bytes, each.workspace, each.name))


def _pairs(connection: Connection, query: Select[Any]) -> list[tuple[int, int]]:
    return [(int(key), int(value or 0)) for key, value in connection.execute(query)]


def _growing(connection: Connection, key: ColumnElement[Key], which: ColumnElement[bool]) -> list[tuple[Key, int]]:
    """What logs that still grow have come to, each with a column of its run: the database only knows that they are."""
    query = select(key, _FILES.serial).select_from(tables.runs).join(tables.files)
    growing = after_commit.folders(connection).growing
    found = connection.execute(query.where(which, _FILES.digest.is_(None)))
    return [(value, growing.size(serial)) for value, serial in found]


def packed() -> ColumnElement[int]:
    """The bytes of a chunk of a metric."""
    chunk = tables.chunks.c
    return func.length(chunk.times) + func.length(chunk["values"]) + func.coalesce(func.length(chunk.steps), 0)


def _metrics(*columns: Any) -> Select[Any]:
    return select(*columns).select_from(tables.runs).join(tables.series).join(tables.chunks)
