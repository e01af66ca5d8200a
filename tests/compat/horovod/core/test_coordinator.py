"""The side of rank 0, spoken to over real sockets by ranks that misbehave."""

from __future__ import annotations

import socket

import pytest

from runyard.compat.horovod.core import wire
from runyard.compat.horovod.core.coordinator import Coordinator
from runyard.compat.horovod.core.requests import ALLREDUCE, Request


class Rank:
    """One rank, by hand."""

    def __init__(self, port: int, number: int) -> None:
        self.line = wire.connect("127.0.0.1", port, 5.0)
        self.line.settimeout(20.0)
        wire.introduce(self.line, "secret", number, "test")
        self.line.settimeout(20.0)
        self._reader, self._waiting = wire.Reader(), []  # type: ignore[var-annotated]

    def ask(self, name: str) -> None:
        fields = Request(name, ALLREDUCE, ((name, "float32", (2,)),), op="sum").as_list()
        wire.send(self.line, {"k": "ask", "r": [[name, "", fields]]})

    def hears(self) -> wire.Document:
        while not self._waiting:
            self._waiting += self._reader.feed(self.line.recv(1 << 16))
        document: wire.Document = self._waiting.pop(0)
        return document


def meet(size: int) -> tuple[Coordinator, list[Rank], int]:
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    coordinator = Coordinator(listener, size, "secret", "test")
    ranks = [Rank(port, number) for number in range(size)]
    for rank in ranks:
        assert rank.hears() == {"k": "here"}
    return coordinator, ranks, port


def test_a_stranger_does_not_become_a_rank() -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    coordinator = Coordinator(listener, 1, "secret", "test")
    with wire.connect("127.0.0.1", port, 5.0) as stranger, pytest.raises(wire.Refused):
        wire.introduce(stranger, "guessed", 0, "test")
    rank = Rank(port, 0)
    assert rank.hears() == {"k": "here"}
    wire.send(rank.line, {"k": "bye"})
    coordinator.wait(10)
    rank.line.close()


def test_a_rank_that_dies_is_named_to_all_others_with_the_tensor() -> None:
    coordinator, ranks, _ = meet(3)
    ranks[0].ask("x")
    ranks[1].ask("x")
    ranks[2].line.close()
    for rank in ranks[:2]:
        said = rank.hears()
        assert said["k"] == "fatal"
        assert "Rank 2 has ended while 'x' waited for it" in said["m"]
        wire.send(rank.line, {"k": "bye"})
    coordinator.wait(10)
    for rank in ranks:
        rank.line.close()


def test_nonsense_from_a_rank_counts_as_its_end() -> None:
    coordinator, ranks, _ = meet(2)
    ranks[1].line.sendall(b"\xff" * 64)
    assert ranks[0].hears()["k"] == "fatal"
    wire.send(ranks[0].line, {"k": "bye"})
    coordinator.wait(10)
    for rank in ranks:
        rank.line.close()


def test_a_tensor_that_is_not_come_to_fails_after_the_users_limit(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOROVOD_STALL_CHECK_TIME_SECONDS", "0.1")
    monkeypatch.setenv("HOROVOD_STALL_SHUTDOWN_TIME_SECONDS", "0.5")
    coordinator, ranks, _ = meet(2)
    ranks[0].ask("x")
    said = ranks[0].hears()
    assert (said["k"], said["n"]) == ("error", "x")
    assert "handed in by rank 0" in said["m"]
    assert "rank 1 has not come to it" in said["m"]
    assert "rank 1 has not come to it" in capfd.readouterr().err
    for rank in ranks:
        wire.send(rank.line, {"k": "bye"})
    coordinator.wait(10)
    for rank in ranks:
        rank.line.close()
