"""Documents arrive whole however they are cut up, and only from those who know the run's secret."""

from __future__ import annotations

import socket
import struct
import threading

import pytest

from runyard.compat.horovod.core import wire


def test_documents_are_put_together_from_any_pieces() -> None:
    here, there = socket.socketpair()
    with here, there:
        documents: list[wire.Document] = [{"k": "ask", "r": [["name", "", list(range(50))]]}, {"k": "bye"}]
        for document in documents:
            wire.send(here, document)
        content = there.recv(1 << 16)
    reader, found = wire.Reader(), []
    for place in range(0, len(content), 7):
        found += reader.feed(content[place : place + 7])
    assert found == documents


def test_a_length_beyond_all_reason_is_refused_before_it_is_waited_for() -> None:
    with pytest.raises(wire.Refused):
        wire.Reader().feed(struct.pack("!I", wire.MOST + 1))


@pytest.mark.parametrize(("secret", "purpose", "let_in"), [("s", "p", True), ("t", "p", False), ("s", "q", False)])
def test_only_who_knows_the_secret_is_let_in(secret: str, purpose: str, let_in: bool) -> None:
    here, there = socket.socketpair()
    outcome: list[str] = []

    def connect() -> None:
        try:
            wire.introduce(there, secret, 3, purpose)
            outcome.append("in")
        except wire.Refused:
            outcome.append("out")

    thread = threading.Thread(target=connect)
    with here, there:
        thread.start()
        if let_in:
            assert wire.challenge(here, "s", "p") == 3
        else:
            with pytest.raises(wire.Refused):
                wire.challenge(here, "s", "p")
            here.shutdown(socket.SHUT_RDWR)
        thread.join(10)
    assert outcome == ["in" if let_in else "out"]


def test_nobody_listens() -> None:
    with pytest.raises(OSError, match="refused"):
        wire.connect("127.0.0.1", 1, 0.05)
