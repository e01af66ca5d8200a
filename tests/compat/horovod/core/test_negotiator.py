"""Ranks as threads of one process, with a transport that adds numbers: what is agreed on, and what is told when not."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from tests.compat.horovod.core.conftest import on_every_rank
from tests.support.ports import free_port

from runyard.compat.horovod.common.exceptions import HorovodInternalError
from runyard.compat.horovod.core.negotiator import Job, Negotiator
from runyard.compat.horovod.core.places import Place
from runyard.compat.horovod.core.requests import ALLGATHER, ALLREDUCE, Request


class Adder:
    """Adds what the ranks of this process have handed in; each rank has one, and all share a blackboard."""

    def __init__(self, rank: int, board: dict[str, dict[int, float]], gate: threading.Barrier) -> None:
        self._rank, self._board, self._gate = rank, board, gate
        self.jobs: list[list[str]] = []

    def perform(self, job: Job) -> list[Any]:
        names = [request.name for request in job.requests]
        self.jobs.append(names)
        values = [ticket.payload for ticket in job.tickets] or [0.0] * len(names)
        for name, value in zip(names, values, strict=True):
            self._board.setdefault(name, {})[self._rank] = value
        self._gate.wait(20)
        totals = [sum(self._board[name].values()) for name in names]
        self._gate.wait(20)
        return totals

    def add(self, ranks: tuple[int, ...]) -> None:
        pass

    def close(self) -> None:
        pass


class Ranks:
    def __init__(self, size: int) -> None:
        self.size = size
        self._port = free_port()
        self._board: dict[str, dict[int, float]] = {}
        self._gate = threading.Barrier(size)
        self.adders: dict[int, Adder] = {}

    def each(self, work: Callable[[Negotiator], Any]) -> list[Any]:
        """What `work` returns on every rank, or the error that it raises there."""

        def run(rank: int) -> Any:
            place = Place(rank, self.size, rank, self.size, 0, 1, "127.0.0.1", self._port, "secret")
            negotiator = Negotiator(place)
            adder = self.adders[rank] = Adder(rank, self._board, self._gate)
            negotiator.use("test", lambda _: adder)
            try:
                return work(negotiator)
            except HorovodInternalError as error:
                return error
            finally:
                negotiator.close()

        return on_every_rank(self.size, run)


def request(name: str, shape: tuple[int, ...] = (), kind: str = ALLREDUCE) -> Request:
    return Request(name, kind, ((name, "float32", shape),), op="sum", device="test/cpu")


def ask(negotiator: Negotiator, name: str, value: float, shape: tuple[int, ...] = ()) -> Any:
    return negotiator.wait(negotiator.submit([request(name, shape)], [value])[0])


def test_every_rank_does_the_same_in_the_same_order() -> None:
    ranks = Ranks(3)
    names = [f"t{number}" for number in range(30)]

    def work(negotiator: Negotiator) -> list[float]:
        mine = names if negotiator.place.rank != 1 else list(reversed(names))
        tickets = {name: negotiator.submit([request(name)], [float(names.index(name))])[0] for name in mine}
        return [negotiator.wait(tickets[name]) for name in names]

    assert ranks.each(work) == [[3.0 * number for number in range(30)]] * 3
    assert ranks.adders[0].jobs == ranks.adders[1].jobs == ranks.adders[2].jobs
    assert len(ranks.adders[0].jobs) < 30, "neighbours are reduced in one go"


def test_what_is_shared_comes_from_every_rank() -> None:
    found = Ranks(2).each(lambda negotiator: negotiator.share("port", {"of": negotiator.place.rank}))
    assert found == [[{"of": 0}, {"of": 1}]] * 2


def test_a_request_with_many_members_is_sent_in_full_once() -> None:
    many = tuple((f"p{number}", "float32", (2,)) for number in range(20))

    def work(negotiator: Negotiator) -> list[Any]:
        wanted = Request("bucket", ALLREDUCE, many, op="sum", device="test/cpu")
        sent = [negotiator._document(wanted)[2] for _ in range(2)]
        negotiator._told.clear()
        return [sent[0] is None, sent[1] is None] + [
            negotiator.wait(negotiator.submit([wanted], [1.0])[0]) for _ in range(3)
        ]

    assert Ranks(2).each(work) == [[False, True, 2.0, 2.0, 2.0]] * 2


def test_disagreement_reaches_every_rank_and_the_next_call_goes_well() -> None:
    def work(negotiator: Negotiator) -> tuple[str, float]:
        with pytest.raises(HorovodInternalError) as raised:
            ask(negotiator, "x", 1.0, (negotiator.place.rank + 1,))
        return str(raised.value), ask(negotiator, "x", 1.0)

    said = Ranks(2).each(work)
    assert (
        said[0] == said[1] == ("The ranks disagree on the shape of the tensor 'x': [1] on rank 0, [2] on rank 1.", 2.0)
    )


def test_a_rank_that_leaves_early_is_named() -> None:
    def work(negotiator: Negotiator) -> Any:
        ask(negotiator, "x", 1.0)
        return ask(negotiator, "more", 1.0) if negotiator.place.rank == 0 else "done"

    first, second = Ranks(2).each(work)
    assert second == "done"
    for words in ("'more'", "rank 0", "rank 1", "number of calls"):
        assert words in str(first)


def test_different_names_end_and_do_not_hang(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUNYARD_HOROVOD_STUCK_SECONDS", "0.2")
    for found in Ranks(2).each(lambda negotiator: ask(negotiator, f"of {negotiator.place.rank}", 1.0)):
        assert isinstance(found, HorovodInternalError)
        assert "rank 0 for 'of 0'; rank 1 for 'of 1'" in str(found)


def test_who_has_joined_gives_zeros_until_all_have() -> None:
    def work(negotiator: Negotiator) -> list[float]:
        rank = negotiator.place.rank
        found = [ask(negotiator, f"batch {batch}", 1.0) for batch in range(rank + 1)]
        return [*found, negotiator.join(), ask(negotiator, "after", 1.0)]

    assert Ranks(3).each(work) == [[3.0, 2, 3.0], [3.0, 2.0, 2, 3.0], [3.0, 2.0, 1.0, 2, 3.0]]


def test_only_reductions_go_with_join() -> None:
    def work(negotiator: Negotiator) -> Any:
        if negotiator.place.rank == 0:
            return negotiator.join()
        with pytest.raises(HorovodInternalError, match=r"rank 0 cannot take part in after hvd\.join"):
            negotiator.wait(negotiator.submit([request("x", (1,), ALLGATHER)], [1.0])[0])
        return negotiator.join()

    assert Ranks(2).each(work) == [1, 1]


def test_a_name_under_way_is_not_taken_twice() -> None:
    def work(negotiator: Negotiator) -> float:
        if negotiator.place.rank == 1:
            negotiator.share("rank 0 has tried", 0)
        ticket = negotiator.submit([request("x")], [1.0])[0]
        if negotiator.place.rank == 0:
            with pytest.raises(HorovodInternalError, match="still under way"):
                negotiator.submit([request("x")], [1.0])
            negotiator.share("rank 0 has tried", 0)
        total: float = negotiator.wait(ticket)
        return total

    assert Ranks(2).each(work) == [2.0, 2.0]


def test_what_some_ranks_do_is_done_without_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rank 1 is none of them: it neither takes part nor is waited for, though it has joined."""
    monkeypatch.setenv("RUNYARD_HOROVOD_STUCK_SECONDS", "0.2")

    def work(negotiator: Negotiator) -> Any:
        if negotiator.place.rank == 1:
            return negotiator.join()
        negotiator.barrier("of two", ranks=(0, 2))
        told = negotiator.share("rank", negotiator.place.rank, ranks=(0, 2))
        with pytest.raises(HorovodInternalError, match="rank 0 for 'x'; rank 2 for 'y'; rank 1 has joined"):
            negotiator.barrier("xy"[negotiator.place.rank // 2], ranks=(0, 2))
        negotiator.join()
        return told

    found = Ranks(3).each(work)
    assert (found[0], found[2]) == ([0, 2], [0, 2])
    assert found[1] in (0, 2), "the last to join"


def test_what_fails_on_one_rank_is_told_to_all() -> None:
    class Broken(Adder):
        def perform(self, job: Job) -> list[Any]:
            raise ValueError("no such number")

    def work(negotiator: Negotiator) -> Any:
        if negotiator.place.rank == 1:
            negotiator._transports["test"] = Broken(1, {}, threading.Barrier(1))
        else:
            negotiator._transports["test"] = Adder(0, {}, threading.Barrier(1))
        first = None
        if negotiator.place.rank == 1:
            with pytest.raises(HorovodInternalError, match=r"failed on rank 1: .*no such number"):
                ask(negotiator, "x", 1.0)
        else:
            first = ask(negotiator, "x", 1.0)
        with pytest.raises(HorovodInternalError, match=r"failed on rank 1"):
            _ask_on(negotiator)
        return first

    Ranks(2).each(work)


def _ask_on(negotiator: Negotiator) -> None:
    for number in range(1000):
        ask(negotiator, f"y{number}", 1.0)


def test_alone_everything_is_done_at_once() -> None:
    negotiator = Negotiator(Place())
    negotiator.use("test", lambda _: Adder(0, {}, threading.Barrier(1)))
    assert ask(negotiator, "x", 2.5) == 2.5
    assert negotiator.join() == 0
    assert negotiator.share("x", 3) == [3]
    negotiator.barrier("b")
    negotiator.close()
