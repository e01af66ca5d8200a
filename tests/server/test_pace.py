"""If these fail, whoever follows a run sees it late, or runs that nobody looks at keep the server busy."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.server.conftest import PATIENCE, Reporter, journal_lines, serve

from runyard.contracts.delivery import PATIENCE as OF_REPORTERS
from runyard.contracts.delivery import JournalPart, LogPart
from runyard.node.delivery.follow_loop import AFTER_A_HOLD, LONGEST_SILENCE
from runyard.scheduler.heartbeats import SILENT_AFTER
from runyard.server import pace
from runyard.server.live import Live
from runyard.server.pace import BEAT, EVERY, QUIET, SOONEST, TOGETHER, Pace
from runyard.server.settings import Settings

if TYPE_CHECKING:
    from tests.server.conftest import Client, Served

LOG = "user_logs/std_log.txt"


@dataclass
class Clock:
    """Stands for the event loop where only its time matters."""

    now: float

    def time(self) -> float:
        return self.now


POINT = journal_lines(["v", "loss", 0.5, 10.0, 1])


def test_a_response_is_held_until_somebody_watches(one: Reporter, here: Client) -> None:
    with one.held(parts=[LogPart(LOG, 0, b"x")]) as (receipt, _):
        assert receipt["pace"] == receipt["held"] > 0
    with one.held() as (receipt, response):
        assert receipt["held"] >= SOONEST * QUIET > receipt["pace"] * SOONEST
        with here.events(one.run["id"]) as events:
            next(events)
            assert json.loads(response.readline()) == {"come": True}
            assert response.read() == b""
            receipt = one.deliver(parts=[LogPart(LOG, 1, b"y")], hold=True)
            assert receipt["pace"] == 0
            assert "held" not in receipt


def test_a_read_has_what_is_held_delivered_first(one: Reporter, here: Client) -> None:
    """A notebook that asks for metrics now and then sees those of now, not of some seconds ago."""
    with one.held() as (_, response):
        found: list[Any] = []
        ask = threading.Thread(target=lambda: found.append(here.ok("GET", f"{one.path}/metrics")))
        ask.start()
        assert json.loads(response.readline()) == {"come": True}
        one.deliver(parts=[JournalPart("w", 0, POINT)])
        ask.join()
    if not found[0]["metrics"]:  # this machine was too busy for the read to wait that long
        found.append(here.ok("GET", f"{one.path}/metrics"))
    assert [metric["count"] for metric in found[-1]["metrics"][one.run["id"]]] == [1]


def test_a_read_of_all_below_has_them_come(here: Client) -> None:
    parent = here.make_run()
    child = here.as_run(parent).ok("POST", "/api/runs", {"kind": "child", "parent_id": parent["id"]})
    with Reporter(here, child).held() as (_, response):
        here.ok("GET", f"/api/runs/{parent['id']}/metrics?recursive=true")
        assert json.loads(response.readline()) == {"come": True}


def test_a_held_response_ends_by_itself(one: Reporter, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "EVERY", 0.1)
    with one.held(parts=[LogPart(LOG, 0, b"x")]) as (_, response):
        assert response.read() == b""


def test_a_client_that_leaves_is_forgotten(served_on_sqlite: Served, one: Reporter) -> None:
    holds = served_on_sqlite.app.state.context.pace
    with one.held():
        assert len(holds) == 1
    deadline = time.monotonic() + PATIENCE
    while len(holds):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert one.deliver()["status"] == "Running"


def test_a_server_that_stops_ends_what_it_holds(home: Path) -> None:
    with serve(Settings(home=home, token="t" * 20, secret="s3cret")) as served:
        reporter = Reporter(served.client, served.client.make_run())
        held = reporter.held()
        _, response = held.__enter__()
    assert response.read() == b""
    held.__exit__(None, None, None)


def test_the_time_of_holding_does_not_count_as_time_of_answering(served_on_sqlite: Served, one: Reporter) -> None:
    with one.held():
        pass
    deadline = time.monotonic() + PATIENCE
    meters = served_on_sqlite.app.state.context.meters
    while not (found := meters.durations.get(("POST", "/api/runs/{run_id}/deliveries"))):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert sum(found.counts) == 1


def test_the_oldest_byte_of_a_delivery_is_below_five_seconds_old_and_a_heartbeat_comes_in_time() -> None:
    async def waits() -> None:
        it = Pace(Live(), lambda: 5000)
        for run_id in (f"run-{number}" for number in range(500)):
            assert SOONEST * EVERY - 0.001 <= it.seconds(run_id) <= (1 + SOONEST) * EVERY + 0.001 < 5.0
            assert SOONEST * QUIET - 0.001 <= it.quiet_seconds(run_id) <= (1 + SOONEST) * QUIET + BEAT + 0.001
            assert it.quiet_seconds(run_id) + AFTER_A_HOLD < 50 < SILENT_AFTER  # as reporters expect that are older
            assert QUIET * SOONEST < it.quiet_seconds(run_id, OF_REPORTERS) <= OF_REPORTERS < LONGEST_SILENCE

    asyncio.run(waits())


def test_silent_runs_come_less_often_the_more_there_are() -> None:
    """Thousands of heartbeats a second would be all that the server does; of a few runs each is known to be alive."""

    async def waits() -> None:
        live = 0
        it = Pace(Live(), lambda: live)
        mean = {}
        for live in (10, 500, 1000, 2000, 4000, 5000):
            waits = [it.quiet_seconds(f"run-{number}", OF_REPORTERS) for number in range(500)]
            mean[live] = sum(waits) / len(waits)
        assert mean[10] <= (1 + SOONEST) * QUIET  # few have their turn together
        assert mean[500] < QUIET < mean[1000] < mean[2000]
        assert abs(mean[5000] - mean[4000]) < mean[4000] / 10
        assert all(it.quiet_seconds(f"run-{number}", 20) <= (1 + SOONEST) * QUIET + BEAT for number in range(500))

    asyncio.run(waits())


def test_heartbeats_come_together_whenever_their_runs_have_begun() -> None:
    """A transaction costs much the same for one of them as for twenty."""

    async def beats(count: int) -> Counter[float]:
        live = 0
        it = Pace(Live(), lambda: live)
        clock = it._loop = Clock(1000.0)  # type: ignore[assignment]
        moments: Counter[float] = Counter()
        for live in range(1, count + 1):
            clock.now = 1000.0 + live / 100
            moments[round(clock.now + it.quiet_seconds(f"run-{live}", OF_REPORTERS), 2)] += 1
        return moments

    silent = asyncio.run(beats(2000))
    assert all(moment % BEAT == 0 for moment in silent)
    assert max(asyncio.run(beats(10_000)).values()) < 6 * TOGETHER, "nobody waits for all of them"


def test_who_has_read_something_watches_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    async def watch() -> None:
        live = Live()
        it = Pace(live, lambda: 1)
        assert not it.is_watched("r")
        await it.look("r")
        assert it.is_watched("r")
        assert it.seconds("r") == 0
        assert not it.is_watched("other")
        monkeypatch.setattr(pace, "WATCHED", 0.0)
        await asyncio.sleep(0.001)
        assert not it.is_watched("r")
        with live.subscribe("r"):
            assert it.is_watched("r")
        assert not it.is_watched("r")
        for number in range(1000):
            await it.look(f"run-{number}")
        await asyncio.sleep(0.001)
        await it.look("last")
        assert len(it._read) == 1, "what was read long ago takes no memory"

    asyncio.run(watch())


def test_few_runs_come_together_and_many_come_spread() -> None:
    async def turns(count: int) -> Counter[float]:
        it = Pace(Live(), lambda: count)
        it._loop = Clock(1000.0)  # type: ignore[assignment]
        return Counter(round(it.seconds(f"run-{number}") % EVERY, 2) for number in range(count))

    assert len(asyncio.run(turns(20))) == 1
    many = asyncio.run(turns(5000))
    assert len(many) >= 5000 // TOGETHER / 2
    assert max(many.values()) < 4 * TOGETHER


def test_a_run_has_its_turn_again_and_again() -> None:
    """Whenever it has delivered: else those that came together once would come one by one later."""

    async def turns() -> None:
        it = Pace(Live(), lambda: 700)
        clock = it._loop = Clock(1000.0)  # type: ignore[assignment]
        clock.now += it.seconds("r")
        for late in (0.0, 0.01, 0.4, 0.0):
            before = clock.now
            clock.now += late
            clock.now += it.seconds("r")
            assert clock.now == pytest.approx(before + EVERY, abs=0.01)

    asyncio.run(turns())


def test_nothing_is_held_once_it_is_closed() -> None:
    async def hold() -> None:
        live = Live()
        it = Pace(live, lambda: 1)
        held = asyncio.ensure_future(it.hold("r", 60, lambda callback: None))
        await asyncio.sleep(0)
        assert len(it) == 1
        live.close()  # the server is about to stop
        assert await held is False
        assert len(it) == 0
        assert await it.hold("r", 60, lambda callback: None) is False

    asyncio.run(hold())


def test_a_read_does_not_wait_for_ever() -> None:
    async def read() -> None:
        it = Pace(Live(), lambda: 1)
        held = asyncio.ensure_future(it.hold("r", 60, lambda callback: None))
        await asyncio.sleep(0)
        await it.look("r")  # nobody delivers
        assert await held is True
        it.delivered("r")

    asyncio.run(asyncio.wait_for(read(), PATIENCE))
