"""A follower finds its leader through the server, and gives up when there will be none."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from runyard.contracts.distribution import Distribution
from runyard.contracts.plan import Plan
from runyard.node.gang import publish
from runyard.node.gang.followers import FollowerConnections
from runyard.node.gang.publish import Publisher, find_leader
from runyard.node.problem import Stopped

if TYPE_CHECKING:
    from tests.node.conftest import Gang

Prepare = Callable[..., "Gang"]


@pytest.fixture
def plans(gang: Prepare) -> tuple[Plan, Plan, Path]:
    made = gang({}, Distribution(nodes=2), command="true")
    folders = [node.folder for node in made.nodes]
    return Plan.load(folders[0]), Plan.load(folders[1]), folders[1]


def nothing() -> None:
    pass


def test_a_follower_finds_the_address_that_the_leader_has_published(plans: tuple[Plan, Plan, Path]) -> None:
    leaders, followers, folder = plans
    woken = threading.Event()
    with closing(
        FollowerConnections("127.0.0.1", leaders.link, 2, {"folder": "x"}, lambda node, message: None)
    ) as open_:
        publisher = Publisher(leaders, folder, open_.place, woken.set)
        link = find_leader(followers, folder, nothing)
        assert link is not None
        with closing(link):
            assert link.receive()["folder"] == "x"
        assert woken.wait(60)
        assert publisher.published_at is not None
        assert publisher.refused is None


def test_a_leader_that_the_server_does_not_know_is_refused(plans: tuple[Plan, Plan, Path]) -> None:
    leaders, followers, folder = plans
    unknown = "no-such-run"
    woken = threading.Event()
    publisher = Publisher(replace(leaders, run_id=unknown), folder, "127.0.0.1:1", woken.set)
    assert woken.wait(60)
    assert publisher.refused
    assert publisher.published_at is None
    assert find_leader(replace(followers, run_id=unknown), folder, nothing) is None


def test_a_follower_does_not_look_forever(
    plans: tuple[Plan, Plan, Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(publish, "FIND_WITHIN", 0.1)
    assert find_leader(plans[1], plans[2], nothing) is None
    assert "the leader was not found" in capsys.readouterr().out


def test_a_stop_ends_the_search(plans: tuple[Plan, Plan, Path]) -> None:
    def stop() -> None:
        raise Stopped

    with pytest.raises(Stopped):
        find_leader(plans[1], plans[2], stop)
