"""A trial: one child of a sweep, its parameters, and what it has logged of the primary metric so far."""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Parameters = Mapping[str, Any]


@dataclass
class Trial:
    """`values` has one number per interval, NaN where what was logged is no number that can be compared. `verdict` is
    why a policy has stopped it."""

    number: int
    run_id: str
    parameters: Parameters
    maximizes: bool = True
    values: array[float] = field(default_factory=lambda: array("d"))
    status: str | None = None  # of its run, once that has ended
    verdict: str | None = None
    best_known: float | None = None  # of one whose values are not at hand
    _bests: array[float] = field(default_factory=lambda: array("d"), init=False, repr=False)  # by interval, so far
    _sums: array[float] = field(default_factory=lambda: array("d"), init=False, repr=False)
    _counts: array[int] = field(default_factory=lambda: array("q"), init=False, repr=False)

    @property
    def ended(self) -> bool:
        return self.status is not None

    @property
    def intervals(self) -> int:
        return len(self.values)

    @property
    def best(self) -> float | None:
        """The best number of all that it has logged; one that has only diverged has none."""
        best = self.best_known if not self.values else self.best_within(self.intervals)
        return best if best is not None and math.isfinite(best) else None

    def best_within(self, intervals: int) -> float | None:
        """The best of the first so many values; None when it has logged no number by then."""
        until = self._summed(intervals)
        return None if until == 0 or math.isnan(self._bests[until - 1]) else self._bests[until - 1]

    def average_within(self, intervals: int) -> float | None:
        """The mean of the first so many values."""
        until = self._summed(intervals)
        return self._sums[until - 1] / self._counts[until - 1] if until and self._counts[until - 1] else None

    def _summed(self, intervals: int) -> int:
        """How many of the first so many values there are, of which best and sum are known then. A policy asks for those
        of every trial whenever one of them has logged a value: to go through all values each time would take longer
        the longer they are."""
        best = self._bests[-1] if self._bests else math.nan
        total, count = (self._sums[-1], self._counts[-1]) if self._sums else (0.0, 0)
        for value in self.values[len(self._bests) :]:
            if not math.isnan(value) and is_better(value, None if math.isnan(best) else best, self.maximizes):
                best = value
            if math.isfinite(value):
                total, count = total + value, count + 1
            self._bests.append(best)
            self._sums.append(total)
            self._counts.append(count)
        return min(intervals, len(self._bests))


def best_of(trials: Sequence[Trial], maximizes: bool) -> Trial | None:
    """The trial with the best value; of equal ones the first."""
    found: Trial | None = None
    for trial in trials:
        if trial.best is not None and (found is None or is_better(trial.best, found.best, maximizes)):
            found = trial
    return found


def is_better(value: float, than: float | None, maximizes: bool) -> bool:
    return than is None or (value > than if maximizes else value < than)


def shown(value: float) -> str:
    """A number as a decision names it.

    >>> shown(0.8454545), shown(12345678.0)
    ('0.845455', '1.23457e+07')
    """
    return f"{value:.6g}"
