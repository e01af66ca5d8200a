from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from sqlalchemy import select, update

from runyard.server import maintenance
from runyard.store import tables
from runyard.store.content import files, sweeping
from runyard.store.errors import Unavailable
from runyard.store.metrics import batches, series
from runyard.store.runs import runs, workspace_settings, workspaces
from runyard.store.runs.records import NewRun
from runyard.store.store import Store


@pytest.fixture
def store(home: Path) -> Iterator[Store]:
    with closing(Store.open(home)) as store:
        with store.database.write() as connection:
            workspaces.ensure_default(connection)
            run = runs.create(connection, NewRun(id="r", workspace="local", experiment="e"))
            batch = batches.of([["v", "loss", 0.5, 1.0, 1]])
            series.add(connection, runs.serial_of(connection, run.id), batch)
        files.append(store, "r", "user_logs/std_log.txt", 0, b"a log")
        files.seal(store, "r")
        with store.database.write() as connection:
            ended = datetime.now(timezone.utc) - timedelta(hours=5)
            connection.execute(update(tables.runs).values(status="Completed", ended_at=ended))
        yield store


def dropped(store: Store) -> list[str]:
    with store.database.read() as connection:
        return files.dropped_logs(connection, "r")


def test_what_is_old_is_dropped_and_what_has_ended_is_packed(store: Store) -> None:
    maintenance.tidy(store)
    assert dropped(store) == []
    with store.database.write() as connection:
        assert connection.scalar(select(tables.chunks.c.encoding)) == "D"
        workspace_settings.put(connection, "local", "retention.logs", "3h")
    maintenance.tidy(store)
    assert dropped(store) == ["user_logs/std_log.txt"]


def test_one_step_that_fails_does_not_prevent_the_others(
    store: Store, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*anything: object) -> None:
        raise Unavailable("not_ready", "The folder cannot be read.")

    monkeypatch.setattr(sweeping, "sweep", broken)
    with caplog.at_level(logging.WARNING, "runyard.server"):
        maintenance.tidy(store)
    assert "maintenance (sweep): The folder cannot be read." in caplog.text
    with store.database.read() as connection:
        assert connection.scalar(select(tables.chunks.c.encoding)) == "D"
