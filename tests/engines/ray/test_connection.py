"""If these fail, a Ray cluster that is away is tried without end, or somebody does not learn what to do about it.

The driver is a stand-in: no real cluster refuses, or goes away, on command.
"""

from __future__ import annotations

import os
import signal
import socket

import pytest
from tests.engines.ray.conftest import StandIn
from tests.support.waiting import wait_until

from runyard.engines.base import EngineAway, EngineError
from runyard.engines.ray import connection as module
from runyard.engines.ray.connection import Connection
from runyard.engines.ray.request import Address


def connection_to(port: int, stand_in: StandIn, token_file: str = "") -> Connection:
    address = Address("127.0.0.1", port)
    return Connection(address, "runyard", stand_in.python, token_file, lambda line, event: None)


def test_a_line_is_opened_once_and_again_when_its_driver_has_died(stand_in: StandIn, listening: int) -> None:
    connection = connection_to(listening, stand_in)
    first = connection.line()
    assert connection.line() is first
    os.kill(first.pid, signal.SIGKILL)
    wait_until(lambda: not first.alive)
    second = connection.line()
    assert second is not first
    connection.close()
    wait_until(lambda: not second.alive)
    with pytest.raises(EngineAway, match="the server is ending"):
        connection.line(again=True)


def test_a_cluster_that_was_away_a_moment_ago_is_not_tried_again_at_once(
    stand_in: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "FIRST_PAUSE", 600.0)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    connection = connection_to(port, stand_in)
    with pytest.raises(
        EngineAway, match=f"127.0.0.1:{port} does not answer: nobody listens there .*ray://127.0.0.1:10001"
    ):
        connection.line()
    with socket.create_server(("127.0.0.1", port)):
        with pytest.raises(EngineAway, match="nobody listens there"):
            connection.line()
        assert connection.line(again=True).alive
        connection.close()


@pytest.mark.parametrize(
    ("refusal", "advice"),
    [
        ("Version mismatch: the cluster has Ray 2.41", "the same versions of Python and Ray"),
        ("AuthenticationError: InvalidAuthToken", "Set token_file"),
        ("/opt/python has no Ray (No module named 'ray')", "/opt/python -m pip install"),
        ("something else", "runyard doctor"),
    ],
)
def test_what_a_stand_in_refuses_comes_with_advice(
    refusal: str, advice: str, stand_in: StandIn, listening: int
) -> None:
    stand_in.refuse(refusal, away=False)
    with pytest.raises(EngineError) as refused:
        connection_to(listening, stand_in).line()
    assert not isinstance(refused.value, EngineAway)
    assert refusal in str(refused.value)
    assert advice in str(refused.value)


def test_a_driver_that_nobody_needs_ends(stand_in: StandIn, listening: int, monkeypatch: pytest.MonkeyPatch) -> None:
    connection = connection_to(listening, stand_in)
    line = connection.line()
    connection.rest()
    assert line.alive
    monkeypatch.setattr(module, "UNUSED", -1.0)
    connection.rest()
    wait_until(lambda: not line.alive)
    connection.close()
