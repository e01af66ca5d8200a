"""Values of the primary metric as they arrive: each is counted once, whatever a node runner repeats."""

from __future__ import annotations

import math

from runyard.contracts.journal import line
from runyard.scheduler.sweeps.points import Reader
from runyard.scheduler.sweeps.trials import Trial
from runyard.store.assets.sweeps import Curve


def reader() -> tuple[Trial, Reader]:
    trial = Trial(0, "HD_0", {})
    return trial, Reader(trial, "acc")


def test_a_repeated_batch_counts_once() -> None:
    trial, reads = reader()
    first, second = line("v", "acc", 0.5, 1.0, None), line("v", "acc", 0.6, 2.0, None)
    for offset, data in ((0, first), (0, first), (0, first + second), (len(first), second)):
        assert list(reads.read("w", offset, data)) == []
    assert list(trial.values) == [0.5, 0.6]


def test_other_metrics_and_other_records_are_passed_over() -> None:
    trial, reads = reader()
    data = line("v", "loss", 1, 1.0, None) + line("g", {"acc": "x"}) + line("d", "acc", "why")
    assert list(reads.read("w", 0, data)) == []
    assert trial.intervals == 0


def test_what_cannot_be_compared_is_named() -> None:
    trial, reads = reader()
    data = (
        line("v", "acc", {"f": "nan"}, 1.0, None)
        + line("v", "acc", "good", 1.0, None)
        + line("t", "acc", {"x": [1]}, 1.0)
        + line("l", "acc", [1, 2], 1.0)
    )
    said = list(reads.read("w", 0, data))
    assert [math.isnan(value) for value in trial.values] == [True, True, False, False]
    assert trial.best == 2.0
    assert ["nan" in said[0], '"good"' in said[1], "a table" in said[2]] == [True, True, True]
    assert len(said) == 3


def test_what_has_diverged_is_the_worst_and_nothing_is_infinitely_good() -> None:
    for maximizes, good, bad in ((True, "inf", "-inf"), (False, "-inf", "inf")):
        trial = Trial(0, "HD_0", {}, maximizes)
        data = line("v", "acc", {"f": good}, 1.0, None) + line("v", "acc", {"f": bad}, 1.0, None)
        said = list(Reader(trial, "acc").read("w", 0, data))
        assert ["cannot be compared" in each for each in said] == [True]
        assert trial.best_within(2) == float(bad), "a policy stops it"
        assert trial.best is None, "it is the best of none"


def test_of_many_ranks_the_first_to_log_counts() -> None:
    trial, reads = reader()
    for rank, value in ((1, 0.1), (0, 0.2), (1, 0.3)):
        list(
            reads.read(f"rank{rank}-1", 0 if trial.intervals == 0 or rank == 0 else 26, line("v", "acc", value, 1.0, 1))
        )
    assert list(trial.values) == [0.1, 0.3]


def test_it_goes_on_where_the_store_is() -> None:
    trial, reads = reader()
    known = line("v", "acc", 0.5, 1.0, None)
    reads.restore(Curve([0.5], None, {"w": len(known)}))
    list(reads.read("w", 0, known + line("v", "acc", 0.7, 2.0, None)))
    assert list(trial.values) == [0.5, 0.7]
