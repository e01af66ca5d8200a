"""If these fail, a run could wait for ever, or a small one could keep a large one out."""

from __future__ import annotations

import itertools
from datetime import datetime, timedelta, timezone

from hypothesis import given
from hypothesis import strategies as st

from runyard.scheduler.queue import Queue, Waiting, first_to_start

NOON = datetime(2026, 1, 2, 12, tzinfo=timezone.utc)
_age = itertools.count()


def entry(run_id: str, nodes: int = 1, parent: str | None = None) -> Waiting:
    return Waiting(NOON + timedelta(seconds=next(_age)), run_id, nodes, parent)


def start(queue: Queue, placed: bool = True) -> list[str]:
    started = []
    while (found := queue.next()) is not None:
        queue.hold(found, placed)
        started.append(found.run_id)
    return started


def test_first_come_first_served_within_the_nodes() -> None:
    queue = Queue("gpu-cluster", 2)
    for run in ("a", "b", "c"):
        queue.wait(entry(run))
    assert start(queue) == ["a", "b"]
    assert queue.newly_waiting() == ["c"]
    assert queue.newly_waiting() == [], "each is told once"
    assert queue.why("c") == "waits for 1 of 2 nodes of gpu-cluster; held by a (1), b (1)"
    assert queue.why("a") is None
    queue.leave("a")
    assert start(queue) == ["c"]


def test_a_gang_gets_all_its_nodes_or_none_and_says_who_has_them() -> None:
    queue = Queue("gpu-cluster", 4)
    queue.wait(entry("x", 3))
    queue.wait(entry("y", 2))
    assert start(queue) == ["x"]
    assert queue.why("y") == "waits for 2 of 4 nodes of gpu-cluster; run x holds 3"
    queue.leave("x")
    assert start(queue) == ["y"]


def test_a_small_run_does_not_keep_a_large_one_out() -> None:
    queue = Queue("t", 4)
    queue.hold(entry("old", 1))
    queue.wait(entry("large", 4))
    queue.wait(entry("small", 1))
    assert start(queue) == [], "the small one might outlast the old one"
    assert queue.why("small") == "waits for 1 of 4 nodes of t; run large, which came before it, waits for 4"


def test_a_small_run_goes_before_a_large_one_that_it_cannot_delay() -> None:
    queue = Queue("t", 5)
    queue.hold(entry("old", 4))
    queue.wait(entry("large", 4))
    queue.wait(entry("small", 1))
    assert start(queue) == ["small"]


def test_a_run_that_the_target_has_become_too_small_for_keeps_nobody_waiting() -> None:
    queue = Queue("t", 4)
    queue.wait(entry("large", 4))
    queue.total = 2
    queue.wait(entry("small", 2))
    assert start(queue) == ["small"]
    assert "waits for 4 of 2 nodes of t: make the target larger" in str(queue.why("large"))


def test_a_child_does_not_wait_for_the_place_of_its_parent() -> None:
    queue = Queue("this machine", 1, children_pass=True)
    queue.hold(entry("parent"))
    queue.wait(entry("other"))
    queue.wait(entry("child", parent="parent"))
    assert start(queue) == ["child"]


def test_on_a_cluster_a_child_waits_like_others() -> None:
    queue = Queue("t", 1)
    queue.hold(entry("parent"))
    queue.wait(entry("child", parent="parent"))
    assert start(queue) == []


def test_a_cancelled_run_leaves_the_queue() -> None:
    queue = Queue("t", 1)
    queue.wait(entry("a"))
    queue.leave("a")
    assert queue.next() is None
    assert queue.newly_waiting() == []
    assert "a" not in queue


def test_a_run_that_could_not_be_started_or_starts_again_keeps_its_turn() -> None:
    queue = Queue("t", 1)
    first, second = entry("first"), entry("second")
    queue.wait(second)
    queue.wait(first)
    assert start(queue) == ["first"]
    queue.give_back("first")
    assert start(queue) == ["first"]
    queue.leave("first")
    queue.wait(first)
    assert start(queue) == ["first"]


def test_a_cluster_without_order_is_handed_one_waiting_run_at_a_time() -> None:
    queue = Queue("ray", None, unplaced=1)
    for run in ("a", "b", "c"):
        queue.wait(entry(run, 7))
    assert start(queue, placed=False) == ["a"]
    assert queue.why("c") == "waits until run a, which came before it, has its nodes on ray"
    queue.placed("a")
    assert start(queue, placed=False) == ["b"]
    queue.leave("b")  # cancelled while it waited in the cluster
    assert start(queue, placed=False) == ["c"]


def test_a_cluster_with_a_queue_of_its_own_is_handed_everything() -> None:
    queue = Queue("slurm", None)
    for run in ("a", "b", "c"):
        queue.wait(entry(run, 100))
    assert start(queue, placed=False) == ["a", "b", "c"]


def _by_the_book(total: int, holding: list[int], waiting: list[int]) -> int | None:
    """The rule as it is worded, with every set of holders."""
    free = total - sum(holding)
    for index, nodes in enumerate(waiting):
        in_the_way = False
        for place, ahead in enumerate(waiting[:index]):
            holders = [*holding, *(each for each in waiting[:place] if each <= total)]
            for size in range(len(holders) + 1):
                for some in itertools.combinations(holders, size):
                    left = total - sum(some)
                    in_the_way |= left >= ahead > left - nodes
        if nodes <= free and not in_the_way:
            return index
    return None


@given(
    total=st.integers(0, 8),
    holding=st.lists(st.integers(1, 4), max_size=4),
    waiting=st.lists(st.integers(1, 9), max_size=4),
)
def test_who_starts_is_who_delays_nobody(total: int, holding: list[int], waiting: list[int]) -> None:
    assert first_to_start(total, holding, waiting) == _by_the_book(total, holding, waiting)


def _started_at(total: int, runs: list[tuple[int, int, int]], back_filling: bool) -> list[int]:
    """When each of some runs (came at, nodes, duration) starts."""
    at: dict[int, int] = {}
    now = 0
    while len(at) < len(runs):
        came = [run for run in range(len(runs)) if runs[run][0] <= now and run not in at]
        holding = [runs[run][1] for run, began in at.items() if began + runs[run][2] > now]
        if back_filling:
            index = first_to_start(total, holding, [runs[run][1] for run in came])
        else:
            index = 0 if came and runs[came[0]][1] <= total - sum(holding) else None
        if index is None:
            now += 1
        else:
            at[came[index]] = now
    return [at[run] for run in range(len(runs))]


@given(
    total=st.integers(4, 8),
    runs=st.lists(st.tuples(st.integers(0, 6), st.integers(1, 4), st.integers(1, 6)), max_size=8),
)
def test_back_filling_delays_nobody_whatever_the_durations(total: int, runs: list[tuple[int, int, int]]) -> None:
    runs = sorted(runs, key=lambda run: run[0])
    strictly, filled = _started_at(total, runs, False), _started_at(total, runs, True)
    assert all(late <= in_turn for late, in_turn in zip(filled, strictly, strict=True))
