"""Fill the database of a Runyard home with runs to search: each has one point of a metric, and a parameter.

fill_searched_runyard.py HOME RUNS
"""

from __future__ import annotations

import json
import struct
import sys
import time
from pathlib import Path

from sqlalchemy import Connection, insert, select

from benchmarks.children import fill_runyard
from benchmarks.children.searched_shape import METRIC, PARAMETER, metric, parameter
from runyard.store import tables
from runyard.store.metrics import batches, series
from runyard.store.runs import labels
from runyard.store.store import Store

AT_ONCE = 5_000


def main(home: str, runs: str) -> None:
    wanted = int(runs)
    store = Store.open(Path(home))
    try:
        with store.database.write() as connection:
            fill_runyard.fill(connection, wanted)
            mine = tables.experiments.c.name == fill_runyard.EXPERIMENT
            query = select(tables.runs.c.serial).join(tables.experiments).where(mine)
            made = list(enumerate(connection.scalars(query.order_by(tables.runs.c.serial))))
            for start in range(0, wanted, AT_ONCE):
                some = made[start : start + AT_ONCE]
                texts = [labels.row(run, labels.PARAMETER, PARAMETER, parameter(number)) for number, run in some]
                connection.execute(insert(tables.labels), texts)
            _measure(connection, made)
    finally:
        store.close()
    print(json.dumps({"runs": len(made)}))


def _measure(connection: Connection, made: list[tuple[int, int]]) -> None:
    """A point for each run: the first one is stored as any other, and the rest are as it is."""
    first = made[0][1]
    series.add(connection, first, batches.of([["v", METRIC, metric(0, len(made)), time.time(), 0]]))
    row = dict(connection.execute(select(tables.series).where(tables.series.c.run == first)).mappings().one())
    last = int(row["serial"])
    chunk = dict(connection.execute(select(tables.chunks).where(tables.chunks.c.series == last)).mappings().one())
    for start in range(1, len(made), AT_ONCE):
        rows, parts = [], []
        for number, run in made[start : start + AT_ONCE]:
            value = metric(number, len(made))
            rows.append({**row, "serial": last + number, "run": run, "last": value})
            of_it = {"series": last + number, "smallest": value, "largest": value, "values": struct.pack("<d", value)}
            parts.append({**chunk, **of_it})
        connection.execute(insert(tables.series), rows)
        connection.execute(insert(tables.chunks), parts)


if __name__ == "__main__":
    main(*sys.argv[1:])
