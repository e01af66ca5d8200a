"""When a run is done and what failed first, for runs of one process and of many."""

from __future__ import annotations

import time

import pytest

from runyard.contracts.distribution import Distribution
from runyard.node.outcome import rank_ends
from runyard.node.outcome.rank_ends import RankEnd, RankEnds

LONG_AGO = -1000.0


def end(rank: int, code: int | None = 0, at: float = 0.0, logged: float = 0.0, failed: bool = False) -> RankEnd:
    moment = time.monotonic() + at
    error = {"code": "UserError", "rank": rank} if failed else None
    return RankEnd(rank, 0, code, None if code is not None else 15, moment, logged, error)


def test_a_run_of_one_process_is_done_when_it_ended_well() -> None:
    ends = RankEnds(Distribution())
    assert not ends.complete()
    assert not ends.done()
    assert [each.rank for each in ends.unfinished()] == [0]
    ends.add([end(0)])
    assert ends.complete()
    assert ends.done()
    assert ends.first_failure() is None


def test_one_that_failed_is_not_done() -> None:
    ends = RankEnds(Distribution(processes=2))
    ends.add([end(0), end(1, code=3, failed=True)])
    assert ends.complete()
    assert ends.any_failed()
    assert not ends.done()
    assert [each.rank for each in ends.unfinished()] == [1]


def test_what_failed_first_counts_and_its_log_decides_between_two_at_once() -> None:
    ends = RankEnds(Distribution(processes=4))
    at = time.monotonic()
    failed = {"code": "UserError"}
    ends.add([RankEnd(rank, 0, 1, None, at, logged, failed) for rank, logged in ((0, 9.0), (1, 7.0), (2, 8.0))])
    ends.add([RankEnd(3, 0, None, 15, at - 1.0)])  # ended with the others, not by itself
    first = ends.first_failure()
    assert first is not None
    assert first.rank == 1


def test_an_end_is_only_known_once() -> None:
    ends = RankEnds(Distribution())
    ends.add([end(0)])
    ends.add([end(0, code=9, failed=True)])
    assert ends.of(0).exit.ok


def test_parameter_servers_are_done_when_the_workers_are() -> None:
    ends = RankEnds(Distribution("tensorflow", nodes=1, workers=1, parameter_servers=2))
    assert not ends.done()
    ends.add([end(0)])
    assert ends.done()
    assert not ends.complete()


@pytest.mark.parametrize(("at", "done"), [(0.0, False), (LONG_AGO, True)])
def test_workers_of_a_chief_are_done_a_while_after_it(at: float, done: bool) -> None:
    ends = RankEnds(Distribution("tensorflow", nodes=2, workers=2, parameter_servers=1))
    ends.add([end(0, at=at)])
    assert ends.done() == done


def test_workers_without_a_chief_are_waited_for() -> None:
    ends = RankEnds(Distribution("tensorflow", nodes=2, workers=2))
    ends.add([end(0, at=LONG_AGO)])
    assert not ends.done()


def test_an_end_travels_as_json_and_what_a_newer_runner_adds_is_left_out() -> None:
    one = end(2, code=None, failed=True)
    assert rank_ends.RankEnd.from_dict({**one.as_dict(), "more": 1}) == one
