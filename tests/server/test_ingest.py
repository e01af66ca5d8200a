"""If these fail, deliveries that are stored together are lost with one of them, or with the server."""

from __future__ import annotations

import asyncio
import http.client
import os
import signal
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.server.conftest import Reporter, journal_lines, on_both_databases

from runyard.contracts.delivery import JournalPart, LogPart
from runyard.server import ingest
from runyard.server.ingest import Ingest
from runyard.store.errors import Refused, StoreError
from runyard.store.intake import Intake, Parcel, Taken

if TYPE_CHECKING:
    from tests.server.conftest import Client, Start

LOG = "user_logs/std_log.txt"
POINT = journal_lines(["v", "loss", 0.5, 10.0, 1])
LATER = journal_lines(["v", "loss", 0.25, 11.0, 2])


class Recorded:
    """Stands for the store: notes which parcels came together."""

    def __init__(self) -> None:
        self.groups: list[list[str]] = []
        self.gate = threading.Event()
        self.gate.set()

    def take(self, group: list[Parcel]) -> None:
        self.gate.wait(60)
        self.groups.append([each.run_id for each in group])
        for each in group:
            each.answers = [Refused("bad_name", "no") if part.data == b"bad" else Taken(1) for part in each.parts]

    def take_alone(self, parcel: Parcel) -> None:
        self.take([parcel])

    def fold_due(self) -> bool:
        return False


async def took_beside_the_first(intake: Recorded, others: int) -> Ingest:
    """Take so many parcels while the first one is being stored."""
    it = Ingest(intake)  # type: ignore[arg-type]
    intake.gate.clear()
    taken = [asyncio.ensure_future(it.take(Parcel("first"), at_once=True))]
    await asyncio.sleep(0)
    taken += [asyncio.ensure_future(it.take(Parcel(f"other-{number}"))) for number in range(others)]
    await asyncio.sleep(0)
    intake.gate.set()
    await asyncio.gather(*taken)
    return it


def test_what_comes_while_a_group_is_stored_is_stored_together() -> None:
    async def take() -> list[list[str]]:
        intake = Recorded()
        it = await took_beside_the_first(intake, 3)
        await it.close()
        return intake.groups

    assert asyncio.run(take()) == [["first"], ["other-0", "other-1", "other-2"]]


def test_who_is_watched_waits_for_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ingest, "LINGER", 3600.0)
    monkeypatch.setattr(ingest, "MOST_PARCELS", 2)

    async def take() -> list[list[str]]:
        intake = Recorded()
        it = Ingest(intake)  # type: ignore[arg-type]
        waiting = asyncio.ensure_future(it.take(Parcel("waits")))
        await asyncio.sleep(0.01)
        assert not waiting.done()
        await it.take(Parcel("watched"), at_once=True)
        await waiting
        intake.gate.clear()
        many = [asyncio.ensure_future(it.take(Parcel(f"run-{number}"))) for number in range(5)]
        await asyncio.sleep(0)
        urgent = asyncio.ensure_future(it.take(Parcel("urgent"), at_once=True))
        await asyncio.sleep(0)
        intake.gate.set()
        await asyncio.gather(urgent, *many)
        left = asyncio.ensure_future(it.take(Parcel("left")))
        await asyncio.sleep(0)
        await it.close()  # what waits is stored before the end
        await left
        return intake.groups

    first, *groups = asyncio.run(take())
    assert first == ["watched", "waits"]
    assert groups == [["run-0", "run-1"], ["urgent", "run-2"], ["run-3", "run-4"], ["left"]]


def test_what_nobody_waits_for_lingers_until_others_have_come() -> None:
    async def take() -> list[list[str]]:
        intake = Recorded()
        it = Ingest(intake)  # type: ignore[arg-type]
        await asyncio.gather(*(it.take(Parcel(f"run-{number}")) for number in range(3)))
        await it.close()
        return intake.groups

    assert asyncio.run(take()) == [["run-0", "run-1", "run-2"]]


def test_groups_are_bounded_and_large_parcels_go_by_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ingest, "MOST_PARCELS", 2)
    monkeypatch.setattr(ingest, "LARGE", 10)

    async def take() -> list[list[str]]:
        intake = Recorded()
        it = await took_beside_the_first(intake, 5)
        await it.take(Parcel("large", [LogPart("a", 0, b"x" * 11)]))
        await it.close()
        return intake.groups

    assert [len(group) for group in asyncio.run(take())] == [1, 2, 2, 1, 1]


def test_one_part_is_answered_or_raised() -> None:
    async def take() -> None:
        it = Ingest(Recorded())  # type: ignore[arg-type]
        assert await it.take_part("r", LogPart("a", 0, b"good")) == Taken(1)
        with pytest.raises(StoreError, match="no"):
            await it.take_part("r", LogPart("a", 0, b"bad"))
        await it.close()

    asyncio.run(take())


@on_both_databases
def test_large_deliveries_and_many_at_once_are_all_stored(client: Client) -> None:
    """The large ones are stored by themselves, the others together."""
    reporters = [Reporter(client, client.make_run()) for _ in range(6)]
    point = b'["v","loss",0.5,%d.0,%d]\n'
    failed: list[Any] = []

    def report(reporter: Reporter, large: bool) -> None:
        log = journal = 0
        for turn in range(5):
            lines = b"".join(point % (turn, turn) for _ in range(12_000 if large else 3))
            text = b"line\n" * (60_000 if large else 1)
            receipt = reporter.deliver(parts=[LogPart(LOG, log, text), JournalPart("w", journal, lines)])
            log, journal = log + len(text), journal + len(lines)
            if receipt["parts"] != [{"size": log}, {"offset": journal}]:
                failed.append(receipt)

    threads = [
        threading.Thread(target=report, args=(reporter, not number)) for number, reporter in enumerate(reporters)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    for number, reporter in enumerate(reporters):
        (metric,) = client.ok("GET", f"{reporter.path}/metrics?buckets=1")["metrics"][reporter.run["id"]]
        assert metric["count"] == 5 * (12_000 if not number else 3)
        assert len(client.get(f"{reporter.path}/files/{LOG}").body) == 25 * (60_000 if not number else 1)


def test_a_failure_of_ours_is_reported_and_the_next_delivery_is_stored(
    one: Reporter, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: Intake, group: Any) -> None:
        raise RuntimeError("nobody expected this")

    with monkeypatch.context() as broken:
        broken.setattr(Intake, "take", fail)
        assert one.send(parts=[LogPart(LOG, 0, b"x")]).code == "internal"
    assert one.deliver(parts=[LogPart(LOG, 0, b"x")])["parts"] == [{"size": 1}]


def test_what_got_a_receipt_outlives_the_server(start: Start) -> None:
    """Killed in the middle of deliveries that are stored in groups: all that was confirmed is there, and what was not
    is taken when it is sent again."""
    process = start()
    client = process.ready()
    runs = [client.make_run() for _ in range(8)]
    confirmed: dict[str, tuple[int, int]] = {run["id"]: (0, 0) for run in runs}
    enough = threading.Event()

    def report(run: Any) -> None:
        reporter, turn = Reporter(client, run), 0
        while True:
            log, journal = confirmed[run["id"]]
            text, lines = b"line %d\n" % turn, journal_lines(["v", "loss", float(turn), 1.0, turn])
            try:
                receipt = reporter.deliver(parts=[LogPart(LOG, log, text), JournalPart("w", journal, lines)])
            except OSError:
                return
            except http.client.HTTPException:
                return
            confirmed[run["id"]] = (receipt["parts"][0]["size"], receipt["parts"][1]["offset"])
            turn += 1
            if turn > 15:
                enough.set()

    threads = [threading.Thread(target=report, args=(run,)) for run in runs]
    for thread in threads:
        thread.start()
    assert enough.wait(120)
    process.end(signal.SIGKILL)
    for thread in threads:
        thread.join()

    client = start().ready()
    for run in runs:
        reporter = Reporter(client, run)
        log, journal = confirmed[run["id"]]
        text = client.get(f"{reporter.path}/files/{LOG}").body
        assert len(text) >= log > 0
        found = client.ok("GET", f"{reporter.path}/metrics")["metrics"][run["id"]]
        turns = text[:log].count(b"\n")
        assert found[0]["values"][:turns] == [float(turn) for turn in range(turns)]
        again = reporter.deliver(
            parts=[
                LogPart(LOG, log, b"line %d\n" % turns),
                JournalPart("w", journal, journal_lines(["v", "loss", float(turns), 1.0, turns])),
            ]
        )
        assert "problem" not in str(again)
        (metric,) = client.ok("GET", f"{reporter.path}/metrics")["metrics"][run["id"]]
        assert metric["steps"] == list(range(turns + 1))


def test_held_reporters_go_on_with_the_next_server(start: Start, home: Path) -> None:
    process = start()
    client = process.ready()
    reporter = Reporter(client, client.make_run())
    with reporter.held(parts=[JournalPart("w", 0, POINT)]) as (receipt, response):
        assert receipt["held"]
        code, _ = process.end()
        assert (code, response.read()) == (0, b"")
    reporter = Reporter(start().ready(), reporter.run)
    receipt = reporter.deliver(parts=[JournalPart("w", 0, POINT + LATER)])
    assert receipt["parts"] == [{"offset": len(POINT + LATER)}]
    assert os.path.exists(home)
