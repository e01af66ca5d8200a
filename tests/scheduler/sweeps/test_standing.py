"""The best child and whether all fail, as children come in: a sweep ends, or goes on, by these."""

from __future__ import annotations

from array import array

import pytest

from runyard.scheduler.sweeps.standing import Standing
from runyard.scheduler.sweeps.trials import Trial


def trial(number: int, *values: float, status: str | None = None, verdict: str | None = None) -> Trial:
    return Trial(number, f"HD_{number}", {}, True, array("d", values), status, verdict)


def test_the_best_follows_what_is_logged_and_of_equal_ones_is_the_first() -> None:
    standing, late, early = Standing(maximizes=True), trial(3, 0.5), trial(1)
    standing.note(early)
    assert standing.best_value is None
    standing.note(late)
    assert standing.best_value == (3, 0.5)
    early.values.append(0.5)
    standing.note(early)
    assert standing.best_value == (1, 0.5)
    late.values.append(0.7)
    standing.note(late)
    assert standing.best_value == (3, 0.7)


@pytest.mark.parametrize(
    ("ends", "all_fail"),
    [
        ([], False),
        ([("Failed", None), ("Failed", None)], True),
        ([("Failed", None), ("Completed", None)], False),
        ([("Failed", None), ("Canceled", None), ("Deleted", None)], True),
        ([("Failed", None), ("Canceled", "stopped at interval 1")], False),
        ([("Canceled", None)], False),
    ],
)
def test_whether_all_fail_is_told_by_those_that_ended_by_themselves(
    ends: list[tuple[str, str | None]], all_fail: bool
) -> None:
    standing = Standing(maximizes=True)
    for number, (status, verdict) in enumerate(ends):
        standing.note_end(trial(number, status=status, verdict=verdict))
    assert standing.all_fail == all_fail
    assert standing.failed == [f"HD_{number}" for number, (status, _) in enumerate(ends) if status == "Failed"]
