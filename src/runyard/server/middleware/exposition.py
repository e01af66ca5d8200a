"""The server's meters in Prometheus' text form. Imported when somebody asks for them, not at the start."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4 as CONTENT_TYPE
from prometheus_client.registry import Collector

from runyard.server.middleware.meters import BOUNDS, Meters

__all__ = ["CONTENT_TYPE", "expose"]


def expose(meters: Meters, runs: Mapping[str, int], streams: int) -> bytes:
    """`runs` counts runs by status, `streams` the event streams that are open."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Snapshot(meters, runs, streams))
    return generate_latest(registry)


class _Snapshot(Collector):
    def __init__(self, meters: Meters, runs: Mapping[str, int], streams: int) -> None:
        self._meters, self._runs, self._streams = meters, runs, streams

    def collect(self) -> Iterator[Metric]:
        requests = CounterMetricFamily(
            "runyard_requests", "Requests by route and status.", labels=["method", "route", "status"]
        )
        for (method, route, status), count in list(self._meters.requests.items()):
            requests.add_metric([method, route, str(status)], count)
        yield requests

        seconds = HistogramMetricFamily(
            "runyard_request_seconds", "Seconds from a request to the end of its answer.", labels=["method", "route"]
        )
        for (method, route), durations in list(self._meters.durations.items()):
            seconds.add_metric([method, route], _cumulative(durations.counts), durations.total)
        yield seconds

        runs = GaugeMetricFamily("runyard_runs", "Runs by status.", labels=["status"])
        for state, count in sorted(self._runs.items()):
            runs.add_metric([state], count)
        yield runs

        yield CounterMetricFamily(
            "runyard_journal_records", "Journal records (metric points, tags, ...) received.", self._meters.records
        )
        yield CounterMetricFamily(
            "runyard_stored_bytes",
            "Bytes of files, logs, snapshots and journals received.",
            self._meters.bytes_stored,
        )
        yield GaugeMetricFamily("runyard_event_streams", "Event streams that are open.", self._streams)


def _cumulative(counts: list[int]) -> list[tuple[str, float]]:
    buckets: list[tuple[str, float]] = []
    total = 0
    for bound, count in zip([*map(str, BOUNDS), "+Inf"], counts, strict=True):
        total += count
        buckets.append((bound, total))
    return buckets
