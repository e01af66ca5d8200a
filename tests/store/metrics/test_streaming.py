from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from runyard.store.metrics import batches, series, streaming
from runyard.store.metrics.streaming import Asked
from runyard.store.runs import runs
from runyard.store.runs.records import Run
from runyard.store.store import Store

Add = Callable[..., None]
RUNS = ("r", "silent", "s")


@pytest.fixture
def add(store: Store, make_run: Callable[..., Run]) -> Add:
    for run_id in RUNS:
        make_run(run_id)

    def add(*records: list[Any], run: str = "r", rank: int | None = None) -> None:
        with store.database.write() as connection:
            series.add(connection, runs.serial_of(connection, run), batches.of(records), rank)

    return add


@pytest.fixture
def _tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything counts as large, and nothing fits into memory."""
    monkeypatch.setattr(streaming, "LARGE", 3)
    monkeypatch.setattr(streaming, "AT_ONCE", 7)
    monkeypatch.setattr(streaming, "IN_MEMORY", 100)


def streamed(store: Store, asked: Asked) -> Any:
    return json.loads(b"".join(streaming.document(store.database, RUNS, asked)))


def read(store: Store, asked: Asked) -> Any:
    with store.database.read() as connection:
        found = {
            run: series.read(connection, run, asked.name, asked.buckets, asked.limit, asked.by_rank) for run in RUNS
        }
    return {"metrics": {run: metrics for run, metrics in found.items() if metrics}}


def fill(add: Add) -> None:
    for number in range(20):
        add(["v", "loss", number / 7, 1e9 + number, number], ["v", "whole", number, 1e9, None])
        add(["l", "any", [number, "x", None, True, {"f": "nan"}, 2**70], 1e9 + number], ["d", "any", 'a "text"'])
        add(["t", "table", {"a": [number], f"b{number % 3}": [None if number % 2 else "ü"]}, 1e9 + number])
        add(["a", "plot", "azureml.v2.image", f"plot_{number}.png", 1e9 + number])
        add(["v", "one", 1.0, 1.0, 1] if number == 5 else ["v", "loss", {"f": "inf"}, 1e9 + number, None])
    for rank in (1, 0):
        add(*(["v", "ranks", n / 3, 1e9 + n * (rank + 1), n] for n in range(30)), rank=rank)
        add(*(["t", "rows", {"rank": [rank], "n": [n]}, 1e9 + n] for n in range(30)), rank=rank)
        add(*(["v", "loss", 1.0, 1.0, None] for n in range(5)), run="s", rank=rank)


@pytest.mark.usefixtures("_tiny")
@pytest.mark.parametrize(
    "asked",
    [Asked(), Asked(by_rank=True), Asked("loss"), Asked("none"), Asked(limit=2), Asked(buckets=6), Asked(buckets=1)],
    ids=str,
)
def test_the_stream_is_what_a_read_gives(store: Store, add: Add, asked: Asked) -> None:
    fill(add)
    expected = read(store, asked)
    assert repr(streamed(store, asked)) == repr(json.loads(json.dumps(expected)))
    assert bool(expected["metrics"]) == (asked.name != "none")


def test_small_metrics_come_whole(store: Store, add: Add) -> None:
    fill(add)
    assert repr(streamed(store, Asked())) == repr(json.loads(json.dumps(read(store, Asked()))))


@pytest.mark.usefixtures("_tiny")
def test_no_transaction_is_open_while_a_reader_is_slow(store: Store, add: Add) -> None:
    """Points that come meanwhile are stored, and the document is that of a moment before or after."""
    add(*(["v", "loss", float(n), 1e9 + n, n] for n in range(50)), ["v", "later", 1.0, 1.0, None])
    pieces = []
    for piece in streaming.document(store.database, ["r"], Asked()):
        pieces.append(piece)
        assert store.database._readers.pool.checkedout() == 0  # type: ignore[attr-defined]
        add(["v", "later", 2.0, 2.0, None])
    loss, later = json.loads(b"".join(pieces))["metrics"]["r"]
    assert loss["values"] == [float(n) for n in range(50)]
    assert later["count"] == len(later["values"]) == len(later["times"]) > 1


def test_pieces_are_gathered() -> None:
    assert list(streaming.gathered([b"ab", b"c", b"defg", b"h"], 3)) == [b"abc", b"defg", b"h"]
