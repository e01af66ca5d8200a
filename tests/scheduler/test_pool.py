"""If these fail, `get_status()` shows nodes that are not there, or hides some that are."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from runyard.contracts.compute import IDLE, LEAVING, NODE_STATES, PREPARING, RESIZING, RUNNING, STEADY
from runyard.scheduler.pool import Pool


class Clock:
    now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def counts(pool: Pool) -> dict[str, int]:
    return {state: count for state, count in pool.status().counts.items() if count}


def test_nodes_come_with_a_run_and_go_when_they_were_idle_for_long_enough() -> None:
    clock = Clock()
    pool = Pool("gpu-cluster", least=1, most=4, idle_seconds=60, clock=clock)
    assert [node.name for node in pool.nodes()] == ["gpu-cluster-node-0"]
    pool.take("a", 3)
    assert counts(pool) == {PREPARING: 3}
    assert {node.run_id for node in pool.nodes()} == {"a"}
    pool.started("a")
    assert counts(pool) == {RUNNING: 3}
    pool.give_back("a")
    assert counts(pool) == {IDLE: 3}
    clock.now += 59
    assert pool.status().current_nodes == 3
    clock.now += 1
    assert [node.name for node in pool.nodes()] == ["gpu-cluster-node-0"]


def test_a_run_gets_idle_nodes_before_new_ones() -> None:
    pool = Pool("t", least=2, most=4, idle_seconds=60, clock=Clock())
    pool.take("a", 1)
    pool.take("b", 2)
    assert [(node.name, node.run_id) for node in pool.nodes()] == [
        ("t-node-0", "a"),
        ("t-node-1", "b"),
        ("t-node-2", "b"),
    ]


def test_a_target_that_became_smaller_is_resizing_until_its_runs_have_given_their_nodes_back() -> None:
    clock = Clock()
    pool = Pool("t", least=0, most=4, idle_seconds=60, clock=clock)
    steady_since = pool.status().changed_at
    pool.take("a", 2)
    pool.take("b", 1)
    clock.now += 5
    pool.resize(0, 1, 60)
    status = pool.status()
    assert (status.allocation_state, status.current_nodes, status.target_nodes) == (RESIZING, 3, 1)
    assert counts(pool) == {PREPARING: 1, LEAVING: 2}
    assert status.changed_at > steady_since
    clock.now += 5
    pool.give_back("a")
    status = pool.status()
    assert (status.allocation_state, status.current_nodes, status.target_nodes) == (STEADY, 1, 1)
    assert pool.nodes()[0].run_id == "b"


def test_a_pool_without_idle_time_has_only_the_nodes_that_runs_hold() -> None:
    pool = Pool("local", least=0, most=8, idle_seconds=0, clock=Clock())
    pool.take("a", 2, running=True)
    assert counts(pool) == {RUNNING: 2}
    pool.give_back("a")
    assert pool.nodes() == []


@given(
    least=st.integers(0, 5),
    most=st.integers(0, 8),
    steps=st.lists(
        st.tuples(st.sampled_from(["take", "start", "end", "wait", "resize"]), st.integers(0, 4), st.integers(0, 8))
    ),
)
def test_the_counts_are_true_whatever_happens(least: int, most: int, steps: list[tuple[str, int, int]]) -> None:
    clock = Clock()
    pool = Pool("t", least, most, idle_seconds=10, clock=clock)
    held: dict[str, int] = {}
    for what, who, size in steps:
        run = f"run-{who}"
        if what == "take" and run not in held and sum(held.values()) + size <= most:
            pool.take(run, size)
            held[run] = size
        elif what == "start":
            pool.started(run)
        elif what == "end":
            pool.give_back(run)
            held.pop(run, None)
        elif what == "wait":
            clock.now += size
        elif what == "resize":
            least, most = min(who, size), size
            pool.resize(least, most, 10)
        nodes, status = pool.nodes(), pool.status()
        assert {run: sum(node.run_id == run for node in nodes) for run in held} == held
        assert len({node.name for node in nodes}) == len(nodes) == status.current_nodes
        assert set(status.counts) == set(NODE_STATES)
        assert sum(status.counts.values()) == len(nodes)
        assert status.counts[IDLE] == len(nodes) - sum(held.values())
        assert min(least, most) <= len(nodes) <= max(most, sum(held.values()))
        assert (status.allocation_state == RESIZING) == (status.target_nodes < len(nodes)) == (len(nodes) > most)
