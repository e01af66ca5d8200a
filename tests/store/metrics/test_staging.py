"""If these fail, points that a server has confirmed are missing from the metrics, doubled, or in the wrong order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlalchemy import func, select

from runyard.contracts.journal import line
from runyard.contracts.states import COMPLETED, RUNNING
from runyard.store import tables
from runyard.store.metrics import batches, journals, series, staging
from runyard.store.runs import runs
from runyard.store.runs.records import Run
from runyard.store.store import Store

MakeRun = Callable[..., Run]


def take(store: Store, *each: tuple[str, str, int, bytes]) -> list[Any]:
    """Take lines, each given as the run, the writer, the offset and the bytes, in one transaction."""
    with store.database.write() as connection:
        return journals.accept_many(
            connection,
            [
                journals.incoming(runs.serial_of(connection, run), writer, offset, data)
                for run, writer, offset, data in each
            ],
        )


def staged(store: Store) -> int:
    with store.database.read() as connection:
        return connection.execute(select(func.count()).select_from(tables.staged_lines)).scalar_one()


def metrics(store: Store, run_id: str = "r") -> dict[str, Any]:
    staging.settle(store.database, [run_id])
    with store.database.read() as connection:
        return {each["name"]: each for each in series.read(connection, run_id)}


def test_small_batches_wait_and_become_points_together(store: Store, make_run: MakeRun) -> None:
    make_run("r")
    offset = 0
    for step in range(10):
        data = line("v", "loss", step / 2, float(step), step)
        assert take(store, ("r", "w", offset, data)) == [offset + len(data)]
        offset += len(data)
    assert staged(store) == 10
    assert metrics(store)["loss"]["values"] == [step / 2 for step in range(10)]
    assert staged(store) == 0
    with store.database.read() as connection:
        assert connection.execute(select(func.count()).select_from(tables.chunks)).scalar_one() == 1
    assert metrics(store)["loss"]["count"] == 10, "what was settled is settled once"


def test_the_order_of_arrival_stays_whoever_wrote(store: Store, make_run: MakeRun) -> None:
    """Writers without a rank share a series. A batch that is not staged comes after those that were."""
    make_run("r")
    ends = {"a": 0, "b": 0}
    for step, writer in enumerate("abba"):
        data = line("v", "loss", float(step), 0.0, step)
        if step == 3:
            data += line("g", {"stage": "late"})  # by which runs are found: not staged
        take(store, ("r", writer, ends[writer], data))
        ends[writer] += len(data)
    assert staged(store) == 0
    assert metrics(store)["loss"]["steps"] == [0, 1, 2, 3]


def test_ranks_have_series_of_their_own(store: Store, make_run: MakeRun) -> None:
    make_run("r")
    take(
        store,
        ("r", "rank0-1", 0, line("v", "loss", 0.0, 1.0, None)),
        ("r", "rank1-1", 0, line("v", "loss", 1.0, 2.0, None)),
        ("r", "rank0-1", len(line("v", "loss", 0.0, 1.0, None)), line("v", "loss", 2.0, 3.0, None)),
    )
    found = metrics(store)["loss"]
    assert (found["values"], found["ranks"]) == ([0.0, 1.0, 2.0], [0, 1])


def test_only_what_is_small_and_holds_points_is_staged() -> None:
    point = line("v", "loss", 0.5, 1.0, 1)
    assert staging.fits(batches.parse(point, 0), point)
    assert not staging.fits(batches.parse(point * 1000, 0), point * 1000)
    for other in (line("g", {"a": "b"}), line("G", ["a"]), line("p", {"a": "b"}), line("d", "loss", "why")):
        assert not staging.fits(batches.parse(point + other, 0), point + other)


def test_what_ended_runs_left_is_settled(store: Store, make_run: MakeRun) -> None:
    make_run("going", status=RUNNING)
    make_run("over", status=COMPLETED)
    data = line("v", "loss", 0.5, 1.0, 1)
    take(store, ("going", "w", 0, data), ("over", "w", 0, data))
    staging.settle_ended(store.database)
    with store.database.read() as connection:
        assert [runs.serial_of(connection, "going")] == list(staging.sizes(connection))
        assert len(series.read(connection, "over")) == 1


def test_sizes_are_by_run(store: Store, make_run: MakeRun) -> None:
    serials = {}
    make_run("a")
    make_run("b")
    data = line("v", "loss", 0.5, 1.0, 1)
    take(store, ("a", "w", 0, data), ("b", "w", 0, data), ("a", "w", len(data), data))
    with store.database.read() as connection:
        serials = {run: runs.serial_of(connection, run) for run in "ab"}
        assert staging.sizes(connection) == {serials["a"]: 2 * len(data), serials["b"]: len(data)}
