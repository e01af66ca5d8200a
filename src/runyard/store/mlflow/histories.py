"""The history of a metric as MLflow has it: every point with its step and its time in milliseconds, by time and step.

Points that have come out of order, as those of `synchronous=False` do, are in order here. A metric that was logged
without steps has none here; MLflow's points need one, and get their number in the series.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from runyard.contracts.journal import unpack_value
from runyard.store.metrics import series
from runyard.store.metrics.batches import VALUES


@dataclass(frozen=True)
class History:
    values: Sequence[float]
    times: Sequence[int]
    steps: Sequence[int]

    def __len__(self) -> int:
        return len(self.values)

    def packed(self) -> History | None:
        """The same in a quarter of the memory; None where a time does not fit into 64 bits."""
        try:
            return History(array("d", self.values), array("q", self.times), array("q", self.steps))
        except OverflowError:
            return None

    def part(self, start: int, end: int) -> History:
        return History(self.values[start:end], self.times[start:end], self.steps[start:end])

    def between(self, first: int | None, last: int | None) -> History:
        """The points whose steps are in bounds."""
        if first is None and last is None:
            return self
        kept = [
            at
            for at, step in enumerate(self.steps)
            if (first is None or step >= first) and (last is None or step <= last)
        ]
        return self.at(kept)

    def sampled(self, most: int) -> History:
        """So many points at most, spread over all of them, with the first and the last."""
        count = len(self)
        if count <= most or most < 2:
            return self.part(0, most) if most < 2 else self
        return self.at([round(at * (count - 1) / (most - 1)) for at in range(most)])

    def at(self, places: Sequence[int]) -> History:
        return History(
            [self.values[at] for at in places], [self.times[at] for at in places], [self.steps[at] for at in places]
        )


NOTHING = History((), (), ())


def read(connection: Connection, run_id: str, name: str) -> History:
    """All points of a metric that are numbers; none where there is no such metric."""
    found = [each for each in series.find(connection, run_id, name) if each.rows[0].kind == VALUES]
    if not found:
        return NOTHING
    content = series.contents(connection, found)[0]
    values, steps = content["values"], content["steps"]
    times = [int(time * 1000 + 0.5) for time in content["times"]]
    if steps is None:
        steps = range(len(values))
    elif None in steps:
        steps = [0 if step is None else step for step in steps]
    if set(map(type, values)) <= {float}:
        return _in_order(values, times, steps)
    kept = [
        (float(value), time, step)
        for value, time, step in zip(map(unpack_value, values), times, steps, strict=True)
        if isinstance(value, (int, float)) and not isinstance(value, bool)
    ]
    if not kept:
        return NOTHING
    numbers, times, steps = map(list, zip(*kept, strict=True))
    return _in_order(numbers, times, steps)


def _in_order(values: Sequence[float], times: Sequence[int], steps: Sequence[int]) -> History:
    history = History(values, times, steps)
    if times == sorted(times) and list(steps) == sorted(steps):
        return history
    return history.at(sorted(range(len(times)), key=list(zip(times, steps, strict=True)).__getitem__))
