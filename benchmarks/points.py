"""What a stored point costs: bytes of the whole database, and CPU of the server's side until it is stored."""

from __future__ import annotations

import os
import random
import sys
import tempfile
import time
from array import array
from collections.abc import Callable, Iterator
from contextlib import closing

from sqlalchemy import text

from benchmarks.table import Table
from benchmarks.venvs import Say
from runyard.store.database import Database
from runyard.store.metrics import journals
from runyard.store.runs import runs, workspaces
from runyard.store.runs.records import NewRun

SHAPES = ((1, 1_000_000, 2000), (20, 50_000, 100), (20, 50_000, 5))
"""How many metrics, how many points of each, and how many of each one in a batch."""

INTERVAL, JITTER = 0.05, 0.0005
COLUMNS = ("points", "bytes each", "CPU each")

Value = Callable[[random.Random], float]
VALUES: dict[str, Value] = {
    "floats with all digits": lambda source: source.gauss(2, 0.1),
    "floats of single precision": lambda source: float(array("f", [source.gauss(2, 0.1)])[0]),
    "floats with four decimals": lambda source: round(source.random(), 4),
    "whole numbers": lambda source: source.randrange(1000),
}


def run(quick: bool, say: Say) -> list[Table]:
    """On SQLite, or on an empty PostgreSQL database that RUNYARD_BENCHMARK_DATABASE_URL names."""
    rows = []
    for title, value in VALUES.items():
        for metrics, points, at_once in SHAPES:
            count = points // (20 if quick else 1)
            say(f"{title}: {metrics} × {count:,}, {at_once} of each at once")
            taken, seconds = _stored(metrics, count, at_once, value)
            total = metrics * count
            what = f"{title}, {metrics} × {count:,}, {at_once} at once"
            rows.append((what, f"{taken / total:.1f}", f"{seconds / total * 1e6:.1f} µs"))
    notes = (
        f"The whole database, less the empty one; steps 0, 1, 2, ...; a point each {INTERVAL * 1000:.0f} ms, give or "
        f"take {JITTER * 1000:.1f} ms.",
    )
    return [Table("A stored point", COLUMNS, tuple(rows), notes)]


def _stored(metrics: int, points: int, at_once: int, value: Value) -> tuple[int, float]:
    url = os.environ.get("RUNYARD_BENCHMARK_DATABASE_URL")
    with (
        tempfile.TemporaryDirectory(prefix="points-benchmark-") as folder,
        closing(Database.open(url or f"sqlite:///{folder}/runyard.db")) as database,
    ):
        name = f"points-{time.time_ns()}"
        with database.write() as connection:
            workspaces.ensure_default(connection)
            runs.create(connection, NewRun(id=name, workspace="local", experiment="points"))
        empty, offset, seconds = _size(database), 0, 0.0
        for lines in _journal(metrics, points, at_once, value):
            began = time.process_time()
            offset = journals.take(database, name, "w", offset, lines)
            seconds += time.process_time() - began
        return _size(database) - empty, seconds


def _journal(metrics: int, points: int, at_once: int, value: Value) -> Iterator[bytes]:
    source, now = random.Random(7), 1_763_235_000.0
    for start in range(0, points, at_once):
        lines = []
        for step in range(start, min(start + at_once, points)):
            now += source.gauss(INTERVAL, JITTER)
            lines += [f'["v","m{n}",{value(source)!r},{now + n * 1e-5!r},{step}]\n' for n in range(metrics)]
        yield "".join(lines).encode()


def _size(database: Database) -> int:
    if database.kind == "sqlite":
        with database.read() as connection:
            pages, size = (connection.scalar(text(f"PRAGMA {name}")) for name in ("page_count", "page_size"))
        return int(pages) * int(size)
    with database.read() as connection:
        return int(connection.scalar(text("SELECT pg_database_size(current_database())")) or 0)


if __name__ == "__main__":
    from benchmarks.__main__ import main

    main(["points", *sys.argv[1:]])
