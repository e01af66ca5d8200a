"""Downsampling: a long series as a few buckets, each with the smallest and the largest value in it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from runyard.contracts.journal import pack_value
from runyard.store.metrics import chunks
from runyard.store.metrics.chunks import Chunk


@dataclass
class _Bucket:
    """The points [start, end) of a series, as far as they have been seen."""

    start: int
    end: int
    first: float = 0.0
    last: float = 0.0
    smallest: float | None = None
    largest: float | None = None
    step_first: int | None = None
    step_last: int | None = None
    time_first: float = 0.0
    time_last: float = 0.0

    def widen(self, smallest: float | None, largest: float | None) -> None:
        if smallest is not None and (self.smallest is None or smallest < self.smallest):
            self.smallest = smallest
        if largest is not None and (self.largest is None or largest > self.largest):
            self.largest = largest

    def shown(self) -> dict[str, Any]:
        return {
            "first": pack_value(self.first),
            "last": pack_value(self.last),
            "count": self.end - self.start,
            "min": pack_value(self.smallest),
            "max": pack_value(self.largest),
            "step_first": self.step_first,
            "step_last": self.step_last,
            "time_first": self.time_first,
            "time_last": self.time_last,
        }


def buckets(series: Iterable[Chunk], count: int, number: int, skip: int = 0) -> list[dict[str, Any]]:
    """`count` points of a numeric series, after the first `skip` of it, in `number` buckets (fewer points than that:
    one each), in order."""
    number = min(number, count)
    found = [_Bucket(skip + count * at // number, skip + count * (at + 1) // number) for at in range(number)]
    position, current = 0, 0
    for chunk in series:
        if current == number:
            break
        if position + chunk.count <= skip:
            position += chunk.count
            continue
        bucket = found[current]
        ends = chunks.ends_of(chunk) if max(skip, bucket.start) <= position <= bucket.end - chunk.count else None
        if ends is not None:
            if position == bucket.start:
                bucket.first, bucket.time_first, bucket.step_first = ends.values[0], ends.times[0], ends.steps[0]
            bucket.last, bucket.time_last, bucket.step_last = ends.values[1], ends.times[1], ends.steps[1]
            bucket.widen(chunk.smallest, chunk.largest)
            position += chunk.count
            current += position == bucket.end
            continue
        values, times, steps = chunks.numbers_of(chunk), chunks.time_reader(chunk), chunks.step_reader(chunk)
        done = max(0, skip - position)
        while done < chunk.count and current < number:
            bucket = found[current]
            until = min(chunk.count, bucket.end - position)
            if position + done == bucket.start:
                bucket.first, bucket.time_first, bucket.step_first = values[done], times(done), steps(done)
            bucket.last, bucket.time_last, bucket.step_last = values[until - 1], times(until - 1), steps(until - 1)
            bucket.widen(*chunks.extremes(values[done:until]))
            done = until
            if position + done == bucket.end:
                current += 1
        position += chunk.count
    return [bucket.shown() for bucket in found]
