"""If these fail, a run could wait for ever, or a thousand could start at once."""

from __future__ import annotations

from runyard.scheduler.queue import Queue


def test_first_come_first_served_within_the_places() -> None:
    queue = Queue(places=2)
    for run in ("a", "b", "c"):
        queue.wait(run, None)
    started = []
    while (run_id := queue.next()) is not None:
        queue.hold(run_id)
        started.append(run_id)
    assert started == ["a", "b"]
    assert queue.untold() == ["c"]
    assert queue.untold() == [], "each is told once"
    assert "a, b" in queue.why()
    queue.leave("a")
    assert queue.next() == "c"


def test_a_child_does_not_wait_for_the_place_of_its_parent() -> None:
    queue = Queue(places=1)
    queue.wait("parent", None)
    queue.hold("parent")
    queue.wait("other", None)
    queue.wait("child", "parent")
    assert queue.next() == "child"
    queue.hold("child")
    assert queue.next() is None


def test_a_cancelled_run_leaves_the_queue() -> None:
    queue = Queue(places=1)
    queue.wait("a", None)
    queue.leave("a")
    assert queue.next() is None
    assert queue.untold() == []


def test_a_run_that_could_not_be_started_is_tried_first_and_keeps_its_right() -> None:
    queue = Queue(places=1)
    queue.wait("parent", None)
    queue.hold("parent")
    queue.wait("other", None)
    queue.wait("child", "parent")
    queue.hold("child")
    queue.give_back("child")
    assert queue.next() == "child"
