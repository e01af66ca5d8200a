"""Metrics of several runs as columns of numbers: what charts draw.

Lists of numbers are a fraction of the objects that `series` makes of buckets, to write here and to read there, and the
series of a hundred runs are found by a few queries.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate

from runyard.store.database import Database
from runyard.store.metrics import series
from runyard.store.metrics.batches import VALUES
from runyard.store.metrics.series import Metric
from runyard.store.metrics.streaming import together

Curve = dict[str, object]
"""A metric of one run as columns, in the form of docs/protocol.md."""


def curves(
    database: Database, run_ids: Sequence[str], names: Sequence[str], buckets: int, bands: bool
) -> Iterator[Curve]:
    """The curves of these names that the runs have, run by run. Each has at most so many points, and with `bands` the
    smallest and the largest value of those that each point stands for."""
    with database.read() as connection:
        found = series.find_of_runs(connection, run_ids, names)
    owners = {metric.rows[0].serial: run for run, metric in found if metric.rows[0].kind == VALUES}
    for some in together(metric for _, metric in found if metric.rows[0].serial in owners):
        with database.read() as connection:
            contents = series.contents_by_serial(connection, some, buckets)
        for serial in (metric.rows[0].serial for metric in some):
            if serial in contents:
                head = {key: contents[serial][key] for key in ("name", "count")}
                yield {"run": owners[serial], **head, **_columns(contents[serial], bands)}


def _columns(metric: Metric, bands: bool) -> Curve:
    """`positions` says which point of the series each one is, the last of those that it stands for; null where each
    stands for itself."""
    found = metric.get("buckets")
    if found is None:
        whole = {"low": None, "high": None, "positions": None}
        return {**{key: metric[key] for key in ("values", "steps", "times")}, **whole}
    steps = [each["step_last"] for each in found]
    return {
        "values": [each["last"] for each in found],
        "low": [each["min"] for each in found] if bands else None,
        "high": [each["max"] for each in found] if bands else None,
        "steps": steps if any(step is not None for step in steps) else None,
        "times": [each["time_last"] for each in found],
        "positions": [count - 1 for count in accumulate(each["count"] for each in found)],
    }
