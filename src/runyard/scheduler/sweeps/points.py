"""The primary metric of one child as it arrives: each value once, however often its journal is sent."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

from runyard.contracts import journal
from runyard.scheduler.sweeps.trials import Trial
from runyard.store.assets.sweeps import Curve


class Reader:
    """Adds values to a trial. Of many ranks, the one that logs the metric first is the one that counts."""

    def __init__(self, trial: Trial, metric: str) -> None:
        self._trial, self._metric = trial, metric
        self._written = json.dumps(metric, ensure_ascii=False).encode("utf-8", "surrogatepass")
        self._offsets: dict[str, int] = {}
        self._rank: int | None = None
        self._has_rank = False

    def restore(self, curve: Curve) -> None:
        """What is stored already."""
        self._offsets = dict(curve.offsets)
        if curve.values:
            self._rank, self._has_rank = curve.rank, True
        for value in curve.values:
            self._trial.values.append(self._number(value))

    def read(self, writer: str, offset: int, data: bytes) -> Iterator[str]:
        """Take lines that begin at an offset of the journal of `writer`. Yields what is strange about them."""
        known = self._offsets.get(writer, 0)
        fresh = data[max(0, known - offset) :]
        self._offsets[writer] = max(known, offset + len(data))
        if self._written not in fresh:
            return
        rank = journal.rank_of(writer)
        for line in fresh.split(b"\n"):
            if self._written in line:
                yield from self._record(line, rank)

    def _record(self, line: bytes, rank: int | None) -> Iterator[str]:
        try:
            kind, name, value = json.loads(line)[:3]
        except ValueError:
            return  # the store has refused it
        if name != self._metric or kind not in (journal.VALUE, journal.LIST, journal.TABLE, journal.ARTIFACT):
            return
        if kind in (journal.TABLE, journal.ARTIFACT):
            what = "a table" if kind == journal.TABLE else "a file"
            yield f"logged {self._metric!r} as {what}, which cannot be compared: log one number at a time"
            return
        if not self._has_rank:
            self._rank, self._has_rank = rank, True
        if rank != self._rank:
            return
        for each in value if kind == journal.LIST else [value]:
            number = self._number(journal.unpack_value(each))
            if math.isnan(number):
                shown = json.dumps(each)[:80]
                yield f"logged {shown} as {self._metric!r}, which cannot be compared: it counts as an interval alone"
            self._trial.values.append(number)

    def _number(self, value: Any) -> float:
        """A logged value as a number; NaN when it is none. A loss that has become infinite is the worst there is, but
        nothing is infinitely good."""
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return math.nan
        try:
            number = float(value)
        except OverflowError:
            number = math.inf if value > 0 else -math.inf
        return math.nan if number == (math.inf if self._trial.maximizes else -math.inf) else number
