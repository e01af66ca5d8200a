from __future__ import annotations

import random
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from sqlalchemy import func, select, update

from runyard.store import tables
from runyard.store.content import files, retention
from runyard.store.content.retention import LOGS, SERIES, Amount
from runyard.store.errors import Gone, NotFound
from runyard.store.metrics import batches, consolidation, series
from runyard.store.metrics.streaming import Asked, document
from runyard.store.runs import runs, workspace_settings
from runyard.store.runs.records import Run
from runyard.store.store import Store

MakeRun = Callable[..., Run]
MONTH, YEAR = timedelta(days=30), timedelta(days=365)
NOW = datetime.now(timezone.utc)
LOG = "user_logs/std_log.txt"


@pytest.fixture
def old_run(store: Store, make_run: MakeRun) -> Callable[..., str]:
    """Makes runs that have ended, with a log and an output."""

    def make(id: str, ended_at: datetime = NOW - 2 * MONTH, log: bytes = b"a log", **told: Any) -> str:
        make_run(id, **told)
        for name, content in ((LOG, log), ("outputs/model.bin", b"weights")):
            files.append(store, id, name, 0, content)
        files.seal(store, id)
        with store.database.write() as connection:
            ended = {"status": "Completed", "ended_at": ended_at}
            connection.execute(update(tables.runs).where(tables.runs.c.id == id).values(**ended))
        return id

    return make


def log_points(store: Store, run_id: str, count: int) -> None:
    noise = random.Random(7)
    records: list[list[Any]] = [["v", "loss", noise.gauss(2, 0.1), 1e9 + n, n] for n in range(count)]
    records[0][2], records[count // 2][2], records[-1][2] = 0.0, 1e6, 0.5
    records += [["v", "text", f"line {n}", 1e9 + n, None] for n in range(count)]
    records += [["t", "table", {"n": [n] * 5, "text": ["x" * 20] * 5}, 1e9] for n in range(count // 5)]
    records += [["v", "short", 1.5, 1e9, None] for n in range(1000)]
    with store.database.write() as connection:
        series.add(connection, runs.serial_of(connection, run_id), batches.of(records))


def would_free(store: Store, kind: str, age: timedelta = MONTH) -> Amount:
    with store.database.read() as connection:
        return retention.would_free(connection, "local", kind, age)


def apply(store: Store, kind: str, age: timedelta = MONTH) -> Amount:
    freed, is_all = retention.apply(store, "local", kind, age)
    assert is_all
    return freed


def has_log(store: Store, run_id: str) -> bool:
    with store.database.read() as connection:
        if not files.dropped_logs(connection, run_id):
            return files.get(connection, run_id, LOG).size > 0
        with pytest.raises(Gone, match="was dropped"):
            files.get(connection, run_id, LOG)
        return False


def test_logs_of_old_runs_go_and_say_so(store: Store, old_run: Callable[..., str]) -> None:
    old_run("old", log=b"x" * 1000)
    old_run("young", ended_at=NOW - timedelta(days=1), log=b"y")
    assert would_free(store, LOGS) == Amount(1, 1000)
    assert apply(store, LOGS) == Amount(1, 1000)
    assert would_free(store, LOGS) == apply(store, LOGS) == Amount()
    assert not has_log(store, "old")
    assert has_log(store, "young")
    with store.database.read() as connection:
        assert files.dropped_logs(connection, "old") == [LOG]
        assert files.dropped_logs(connection, "young") == []
        assert [entry.name for entry in files.find(connection, "old")] == ["outputs/model.bin"]
        with pytest.raises(NotFound) as missing:
            files.get(connection, "old", "user_logs/other.txt")
        assert missing.value.code == "file_not_found"


@pytest.mark.parametrize("kind", [LOGS, SERIES])
def test_two_that_drop_the_same_at_once_do_it_once(
    store: Store, old_run: Callable[..., str], monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    old_run("old", log=b"x" * 1000)
    log_points(store, "old", 5000)
    name = "_drop_logs" if kind == LOGS else "_thin"
    both_know, drop = threading.Barrier(2), getattr(retention, name)

    def drop_when_both_know(store: Store, run: int) -> int:
        both_know.wait(60)
        return int(drop(store, run))

    monkeypatch.setattr(retention, name, drop_when_both_know)
    with ThreadPoolExecutor(2) as threads:
        first, second = threads.map(lambda _: apply(store, kind), range(2))
    assert first.runs + second.runs == 1 or kind == SERIES, "they may share the series of a run"
    monkeypatch.undo()
    assert apply(store, kind) == Amount()
    with store.database.read() as connection:
        assert connection.scalar(select(func.count()).select_from(tables.dropped)) == 1


def test_content_that_another_run_has_too_is_not_removed(store: Store, old_run: Callable[..., str]) -> None:
    old_run("old")
    old_run("young", ended_at=NOW)
    assert apply(store, LOGS) == Amount(0, 0)
    with store.database.read() as connection:
        entry = files.get(connection, "young", LOG)
    with store.objects.open(str(entry.digest)) as file:
        assert file.read() == b"a log"


def test_what_goes_on_and_what_is_to_be_kept_is_left_alone(store: Store, old_run: Callable[..., str]) -> None:
    old_run("tagged", tags={"keep": None})
    old_run("family", tags={"keep": "paper"})
    old_run("child", kind="child", parent_id="family")
    old_run("running")
    with store.database.write() as connection:
        connection.execute(update(tables.runs).where(tables.runs.c.id == "running").values(status="Running"))
    for kind in retention.KINDS:
        assert would_free(store, kind) == Amount()
        assert apply(store, kind) == Amount()
    assert all(has_log(store, run_id) for run_id in ("tagged", "family", "child", "running"))


def test_a_thinned_series_keeps_its_count_its_extremes_and_its_curve(store: Store, old_run: Callable[..., str]) -> None:
    old_run("old")
    log_points(store, "old", 30_000)
    taken = would_free(store, SERIES)
    freed = apply(store, SERIES)
    assert taken.runs == freed.runs == 1
    assert taken.bytes * 0.7 < freed.bytes < taken.bytes
    assert apply(store, SERIES) == Amount()
    with store.database.read() as connection:
        loss, text, table, short = series.read(connection, "old")
        (bucketed,) = series.read(connection, "old", "loss", buckets=1)
        assert len(series.read(connection, "old", "loss", buckets=10)[0]["buckets"]) == 10
        left = connection.scalar(select(func.count()).select_from(tables.chunks))
    assert left == 4
    assert (loss["count"], loss["thinned"], len(loss["values"])) == (30_000, True, 1000)
    assert loss["values"][-1] == 0.5
    assert loss["steps"][-1] == 29_999
    assert len(loss["times"]) == 1000
    (bucket,) = bucketed["buckets"]
    assert (bucket["min"], bucket["max"], bucket["count"]) == (0.0, 1e6, 30_000)
    assert text["count"] == 30_000
    assert text["values"][-1] == "line 29999"
    assert len(text["values"]) == len(text["times"]) == 1000
    assert table["count"] == 30_000
    assert table["columns"]["n"] == [n for n in range(5800, 6000) for _ in range(5)]
    assert "thinned" not in short
    assert len(short["values"]) == 1000
    assert b'"thinned":true' in b"".join(document(store.database, ["old"], Asked()))


def test_points_that_come_after_all_are_added(store: Store, old_run: Callable[..., str]) -> None:
    old_run("old")
    log_points(store, "old", 30_000)
    apply(store, SERIES)
    with store.database.write() as connection:
        batch = batches.of([["v", "loss", -5.0, 2e9, 40_000]])
        series.add(connection, runs.serial_of(connection, "old"), batch)
    consolidation.merge_ended(store.database, NOW - YEAR, NOW)
    with store.database.read() as connection:
        loss = series.read(connection, "old", "loss")[0]
        (bucket,) = series.read(connection, "old", "loss", buckets=1)[0]["buckets"]
    assert (loss["count"], loss["values"][-1], loss["steps"][-1]) == (30_001, -5.0, 40_000)
    assert (bucket["min"], bucket["max"], bucket["count"]) == (-5.0, 1e6, 30_001)


def test_the_settings_of_each_workspace_decide(store: Store, old_run: Callable[..., str]) -> None:
    old_run("old", log=b"1")
    assert retention.apply_all(store) == {LOGS: Amount(), SERIES: Amount()}
    with store.database.write() as connection:
        workspace_settings.put(connection, "local", "retention.logs", "52w")
    assert retention.apply_all(store)[LOGS] == Amount()
    with store.database.write() as connection:
        workspace_settings.put(connection, "local", "retention.logs", "30d")
    assert retention.apply_all(store) == {LOGS: Amount(1, 1), SERIES: Amount()}
    assert not has_log(store, "old")


def test_many_runs_are_gone_through_in_steps(store: Store, old_run: Callable[..., str]) -> None:
    for number in range(3):
        old_run(f"old-{number}", log=b"log %d" % number)
    assert retention.apply(store, "local", LOGS, MONTH, most=2) == (Amount(2, 10), False)
    assert retention.apply(store, "local", LOGS, MONTH, most=2) == (Amount(1, 5), True)
