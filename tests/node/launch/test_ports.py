from __future__ import annotations

import socket
from contextlib import closing

import pytest

from runyard.node.launch import ports
from runyard.node.launch.ports import Ports
from runyard.node.problem import RunProblem


def test_ports_can_be_listened_on_and_are_given_once() -> None:
    with closing(Ports("127.0.0.1", 50)) as first, closing(Ports("127.0.0.1", 50)) as second:
        assert len({*first.numbers, *second.numbers}) == 100
        for number in first.numbers[:5]:
            socket.create_server(("127.0.0.1", number)).close()


def test_what_is_taken_is_not_given(monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(Ports("127.0.0.1", 1)) as held, socket.create_server(("127.0.0.1", held.numbers[0])):
        monkeypatch.setattr(ports, "FIRST", held.numbers[0])
        monkeypatch.setattr(ports, "LAST", held.numbers[0])
        with pytest.raises(RunProblem, match="No 1 free ports"):
            Ports("127.0.0.1", 1)
        held.close()  # another program listens there still
        with pytest.raises(RunProblem, match="No 1 free ports"):
            Ports("127.0.0.1", 1)
