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
        numbers = [value for value in self.values[:intervals] if not math.isnan(value)]
        if not numbers:
            return None
        return max(numbers) if self.maximizes else min(numbers)

    def average_within(self, intervals: int) -> float | None:
        """The mean of the first so many values."""
        numbers = [value for value in self.values[:intervals] if math.isfinite(value)]
        return math.fsum(numbers) / len(numbers) if numbers else None


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
