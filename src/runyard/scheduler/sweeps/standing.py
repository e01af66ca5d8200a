"""The children of a sweep together: which is the best so far, and whether any has gone well. Kept up with each of them,
since to look through all of them whenever one ends would take longer the more there are."""

from __future__ import annotations

from runyard.contracts import states as names
from runyard.scheduler.sweeps.trials import Trial, best_of


class Standing:
    """Trials are noted in any order, and as often as they log."""

    def __init__(self, maximizes: bool) -> None:
        self._maximizes = maximizes
        self.best: Trial | None = None  # of those that have logged a number
        self.failed: list[str] = []  # their runs, in the order in which they ended
        self._one_went_well = False

    @property
    def best_value(self) -> tuple[int, float] | None:
        """The number of the best trial and its value: what changes when another one is the best, or it gets better."""
        return None if self.best is None or self.best.best is None else (self.best.number, self.best.best)

    @property
    def all_fail(self) -> bool:
        """Whether some have failed, and none has completed or was stopped by a policy."""
        return bool(self.failed) and not self._one_went_well

    def note(self, trial: Trial) -> None:
        """A trial has logged, or was loaded."""
        rivals = [trial] if self.best is None else sorted((self.best, trial), key=lambda each: each.number)
        self.best = best_of(rivals, self._maximizes)

    def note_end(self, trial: Trial) -> None:
        """A trial has ended. One that was canceled, other than by a policy, tells neither good nor bad."""
        if trial.status == names.FAILED:
            self.failed.append(trial.run_id)
        elif trial.status == names.COMPLETED or trial.verdict is not None:
            self._one_went_well = True
