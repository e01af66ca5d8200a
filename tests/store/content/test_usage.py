from __future__ import annotations

from collections.abc import Callable

import pytest

from runyard.contracts import journal
from runyard.store.content import files, usage
from runyard.store.content.usage import Usage
from runyard.store.errors import NotFound
from runyard.store.metrics import journals
from runyard.store.runs.records import Run
from runyard.store.store import Store

MakeRun = Callable[..., Run]


def keep(store: Store, run_id: str, name: str, content: bytes) -> None:
    stored = store.objects.put(iter([content]))
    with store.database.write() as connection:
        files.put(connection, run_id, name, stored)


def test_runs_and_experiments_take_what_their_files_and_logs_do(store: Store, make_run: MakeRun) -> None:
    first, second = make_run("first"), make_run("second")
    other = make_run("other", experiment="another")
    make_run("below", parent_id="second")
    make_run("empty", experiment="nothing")
    for run_id in ("first", "second"):
        keep(store, run_id, "shared", b"s" * 1000)
    keep(store, "second", "own", b"o" * 200)
    keep(store, "below", "own", b"b" * 30)
    keep(store, "other", "shared", b"s" * 1000)
    files.append(store, "first", "user_logs/std_log.txt", 0, b"l" * 7)
    with store.database.read() as connection:
        sizes = usage.by_run(connection, ["first", "second", "below", "empty"])
        assert sizes == {"first": 1007, "second": 1200, "below": 30, "empty": 0}
        assert usage.of_runs(connection, ["first", "second"]) == Usage(3, 1000 + 7 + 200 + 30)
        assert usage.of_runs(connection, ["below", "other"]) == Usage(2, 1030)
        assert usage.of_experiment(connection, first.experiment_id) == Usage(3, 1000 + 7 + 200 + 30)
        assert second.experiment_id == first.experiment_id
        told = [(each.name, each.usage) for each in usage.by_experiment(connection)]
        assert told == [("exp", Usage(3, 1237)), ("another", Usage(1, 1000)), ("nothing", Usage(1, 0))]
        assert usage.of_experiment(connection, other.experiment_id) == Usage(1, 1000)


def test_metrics_count(store: Store, make_run: MakeRun) -> None:
    run = make_run()
    lines = b"".join(journal.line(journal.VALUE, "loss", n / 7, 1700000000.0 + n, None) for n in range(100))
    with store.database.write() as connection:
        journals.accept(connection, run.id, "writer", 0, lines)
    with store.database.read() as connection:
        assert usage.of_runs(connection, [run.id]).bytes > 100
        assert usage.of_experiment(connection, run.experiment_id) == usage.of_runs(connection, [run.id])


def test_what_is_not_there_is_refused(store: Store) -> None:
    with store.database.read() as connection:
        with pytest.raises(NotFound):
            usage.of_runs(connection, ["nobody"])
        with pytest.raises(NotFound):
            usage.of_experiment(connection, "nothing")
