"""If these fail, a job of one target is lost, done twice or out of order, or holds up the end of the server."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from runyard.engines.base import EngineAway, EngineError
from runyard.scheduler import worker as module
from runyard.scheduler.worker import Worker
from runyard.store.errors import NotFound, Unavailable

DEADLINE = 60.0


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch) -> Iterator[Worker]:
    monkeypatch.setattr(module, "RETRY_AFTER", 0.01)
    worker = Worker("test")
    yield worker
    worker.close()


def finish(worker: Worker) -> None:
    """Wait until the worker has done all that is due now."""
    done = threading.Event()
    worker.post(done.set)
    assert done.wait(DEADLINE)


def test_jobs_are_done_in_the_order_in_which_they_came(worker: Worker) -> None:
    done: list[int] = []
    for number in range(50):
        worker.post(lambda number=number: done.append(number))  # type: ignore[misc]
    finish(worker)
    assert done == list(range(50))


def test_a_job_with_a_key_is_done_once_however_often_it_is_posted(worker: Worker) -> None:
    held, done = threading.Event(), []
    worker.post(lambda: held.wait(DEADLINE))
    for _ in range(5):
        worker.post(lambda: done.append("start"), key="start")
    held.set()
    finish(worker)
    assert done == ["start"]
    worker.post(lambda: done.append("start"), key="start")
    finish(worker)
    assert done == ["start", "start"], "the next one is another job"


def test_an_earlier_time_wins_over_a_later_one_of_the_same_key(worker: Worker) -> None:
    done: list[str] = []
    worker.post(lambda: done.append("late"), key="start", after=3600.0)
    worker.post(lambda: done.append("early"), key="start")
    finish(worker)
    assert done == ["early"]


@pytest.mark.parametrize("error", [EngineAway("not now"), Unavailable("not_ready", "The database does not answer.")])
def test_what_does_not_answer_is_retried(worker: Worker, error: Exception) -> None:
    tries, done = [], threading.Event()

    def job() -> None:
        tries.append(1)
        if len(tries) < 3:
            raise error
        done.set()

    worker.post(job)
    assert done.wait(DEADLINE)
    assert len(tries) == 3


@pytest.mark.parametrize(
    "error", [EngineError("never"), ValueError("a bug"), NotFound("run_not_found", "There is no such run.")]
)
def test_what_cannot_be_helped_is_not_retried_and_the_worker_goes_on(worker: Worker, error: Exception) -> None:
    tries: list[int] = []

    def job() -> None:
        tries.append(1)
        raise error

    worker.post(job)
    later = threading.Event()
    worker.post(later.set, after=0.1)
    assert later.wait(DEADLINE)
    assert tries == [1]


def test_a_closed_worker_does_nothing_more(worker: Worker) -> None:
    done: list[str] = []
    worker.post(lambda: done.append("later"), after=3600.0)
    worker.close()
    worker.post(lambda: done.append("too late"))
    assert done == []


def test_a_job_that_hangs_does_not_hold_up_the_end(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PATIENCE", 0.01)
    begun, hangs = threading.Event(), threading.Event()

    def job() -> None:
        begun.set()
        hangs.wait(DEADLINE)

    worker.post(job)
    assert begun.wait(DEADLINE)
    worker.close()
    assert not hangs.is_set()
    hangs.set()
