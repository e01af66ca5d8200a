"""The last point of what is observed of runs: what their nodes are doing now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlalchemy import Connection, select

from runyard.contracts.journal import SYSTEM
from runyard.store import tables
from runyard.store.metrics import chunks, series
from runyard.store.metrics.chunks import Chunk
from runyard.store.slices import slices


@dataclass
class NodeLoad:
    """What one node of a run was doing at the moment `time`, by the names of `runyard.contracts.observed.load`."""

    node: int
    time: float = 0.0
    values: dict[str, float] = field(default_factory=dict)


def loads(connection: Connection, run_ids: Sequence[str]) -> dict[str, list[NodeLoad]]:
    """Of each run that has any, its nodes in their order. What is staged must have been folded before."""
    found: dict[str, dict[int, NodeLoad]] = {}
    of_series, of_chunks = tables.series.c, tables.chunks.c
    query = (
        select(tables.runs.c.id, of_series.name, of_series.rank, tables.chunks)
        .join(tables.series, tables.series.c.run == tables.runs.c.serial)
        .join(tables.chunks, (of_chunks.series == of_series.serial) & (of_chunks.ordinal == of_series.chunks - 1))
        .where(series.is_of(SYSTEM))
    )
    for some in slices(list(run_ids)):
        for row in connection.execute(query.where(tables.runs.c.id.in_(some))):
            last = chunks.values_of(Chunk.of(row._mapping))[-1:]
            if not last or isinstance(last[0], bool) or not isinstance(last[0], (int, float)):
                continue  # a script may write such records too
            nodes = found.setdefault(row.id, {})
            load = nodes.setdefault(row.rank or 0, NodeLoad(row.rank or 0))
            load.values[row.name] = float(last[0])
            load.time = max(load.time, *chunks.times_of(Chunk.of(row._mapping))[-1:])
    return {run_id: [nodes[number] for number in sorted(nodes)] for run_id, nodes in found.items()}
