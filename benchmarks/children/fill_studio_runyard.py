"""Fill the database of a Runyard home with the runs of `studio_shape`, through the tables of the store.

fill_studio_runyard.py HOME RUNS POINTS     prints the ids of the first runs
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from sqlalchemy import Connection, select, update

from benchmarks.children import fill_runyard
from benchmarks.children.studio_shape import COMPARED, Shape, name, values
from runyard.store import tables
from runyard.store.metrics import batches, series
from runyard.store.store import Store

AT_ONCE = 2_000


def main(home: str, runs: str, points: str) -> None:
    shape = Shape(int(runs), int(points))
    store = Store.open(Path(home))
    try:
        with store.database.write() as connection:
            fill_runyard.fill(connection, shape.runs)
            query = select(tables.runs.c.serial, tables.runs.c.id).order_by(tables.runs.c.serial)
            made = connection.execute(query).all()
            for number, row in enumerate(made):
                renamed = update(tables.runs).where(tables.runs.c.serial == row.serial)
                connection.execute(renamed.values(display_name=name(number)))
        for start in range(0, len(made), AT_ONCE):
            with store.database.write() as connection:
                for number, row in enumerate(made[start : start + AT_ONCE], start):
                    _add(connection, shape, number, row.serial)
    finally:
        store.close()
    print(json.dumps({"runs": [row.id for row in made[: COMPARED + 1]]}))


def _add(connection: Connection, shape: Shape, number: int, run: int) -> None:
    began = time.time() - shape.runs
    records = [
        ["v", metric, value, began + step / 1000, step]
        for metric, points in shape.metrics(number).items()
        for step, value in enumerate(values(number, points))
    ]
    series.add(connection, run, batches.of(records))


if __name__ == "__main__":
    main(*sys.argv[1:])
