"""The leader's side of the connections: who is accepted, what is passed on, and the loss of one."""

from __future__ import annotations

import threading
import time
from contextlib import closing

import pytest

from runyard.node.gang.followers import FollowerConnections
from runyard.node.gang.link import LinkLost, Message, Stranger, join

WAIT = 60.0


class Inbox:
    """What came in, and a way to wait for it."""

    def __init__(self) -> None:
        self.messages: list[tuple[int, Message]] = []
        self._changed = threading.Condition()

    def put(self, node: int, message: Message) -> None:
        with self._changed:
            self.messages.append((node, message))
            self._changed.notify_all()

    def wait(self, count: int) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.messages) >= count, WAIT)


def test_messages_are_passed_on_and_so_is_a_lost_connection() -> None:
    inbox = Inbox()
    with closing(FollowerConnections("127.0.0.1", "secret", 3, {"folder": "x"}, inbox.put)) as connections:
        first = join(connections.place, "secret", 1)
        assert first.receive()["folder"] == "x"
        first.send("hello")
        inbox.wait(1)
        assert (inbox.messages[0][0], inbox.messages[0][1]["say"]) == (1, "hello")
        assert connections.last_message(1) <= time.monotonic()
        connections.send(1, "go")
        assert first.receive()["say"] == "go"
        first.close()
        inbox.wait(2)
        assert (inbox.messages[1][0], inbox.messages[1][1]["say"]) == (1, "lost")


def test_a_node_that_is_here_already_or_is_none_of_the_run_is_refused() -> None:
    inbox = Inbox()
    with closing(FollowerConnections("127.0.0.1", "secret", 3, {}, inbox.put)) as connections:
        first = join(connections.place, "secret", 1)
        first.receive()
        for number in (1, 7):
            with closing(join(connections.place, "secret", number)) as other, pytest.raises(LinkLost):
                other.receive()
        first.send("ready")
        inbox.wait(1)
        assert inbox.messages[0][1]["say"] == "ready", "the first one is not disturbed"
        first.close()


def test_who_does_not_know_the_secret_is_never_in_the_gang() -> None:
    inbox = Inbox()
    with closing(FollowerConnections("127.0.0.1", "secret", 2, {}, inbox.put)) as connections:
        with pytest.raises((Stranger, LinkLost)):
            join(connections.place, "another", 1)
        connections.send_all("go")  # to nobody
        with closing(join(connections.place, "secret", 1)) as follower:
            assert follower.receive()["say"] == "welcome"
            connections.send_all("end")
            assert follower.receive()["say"] == "end"
    assert [message["say"] for _, message in inbox.messages] in ([], ["lost"])
