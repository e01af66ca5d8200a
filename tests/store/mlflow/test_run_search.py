"""Searching runs by MLflow's filters and orders, on either database: nothing is left out, and pages do not overlap."""

from __future__ import annotations

import math

import pytest
from sqlalchemy import select
from tests.store.mlflow.conftest import Filled

from runyard.store import tables
from runyard.store.errors import Refused
from runyard.store.mlflow import run_search
from runyard.store.mlflow.run_search import ALL, DELETED_ONLY, Asked
from runyard.store.runs import runs


def test_filters_orders_and_pages(filled: Filled) -> None:
    for number in range(8):
        metrics = {} if number == 5 else {"acc": math.nan if number == 4 else number / 10}
        filled.run(
            metrics, {"lr": f"0.{number % 3}"}, {"team": "Red" if number % 2 else "red"}, display_name=f"r{number}"
        )
    store = filled.store
    with store.database.read() as connection:
        here = list(connection.scalars(select(tables.experiments.c.serial)))

        def found(
            filter: str = "", *order_by: str, limit: int = 100, token: str | None = None, **more: str
        ) -> list[int]:
            asked = Asked(here, filter, order_by=order_by, limit=limit, token=token, **more)
            return filled.numbers(connection, run_search.find(connection, asked)[0])

        assert found() == [7, 6, 5, 4, 3, 2, 1, 0]
        assert found("metrics.acc > 0.2") == [7, 6, 3]
        assert found("metrics.acc != 0.2") == [7, 6, 4, 3, 1, 0]
        assert found("metrics.acc > 0.1 and params.lr = '0.0'", "metrics.acc DESC") == [6, 3]
        assert found("", "metrics.acc DESC") == [7, 6, 3, 2, 1, 0, 4, 5]
        assert found("", "metrics.acc ASC") == [0, 1, 2, 3, 6, 7, 4, 5]
        assert found("tags.team LIKE 'R%'") == [7, 5, 3, 1]
        assert found("tags.team ILIKE 'R%' and run_name IN ('r1', 'r2')") == [2, 1]
        assert found("params.lr != '0.1'") == [6, 5, 3, 2, 0]
        assert found("params.none IS NULL and params.lr IS NOT NULL", "params.lr", "attributes.run_name DESC")[:3] == [
            6,
            3,
            0,
        ]
        assert found("status = 'SCHEDULED'") == [7, 6, 5, 4, 3, 2, 1, 0]
        assert found("status != 'SCHEDULED'") == []
        assert found("attributes.start_time > 1000", "start_time ASC") == [0, 1, 2, 3, 4, 5, 6, 7]
        assert found("tags.team LIKE '[R]*'") == []
        for order in ("metrics.acc DESC", "params.lr", "tags.team DESC"):
            pages: list[int] = []
            token: str | None = None
            while True:
                serials, token = run_search.find(connection, Asked(here, "", order_by=[order], limit=3, token=token))
                pages += filled.numbers(connection, serials)
                if token is None:
                    break
            assert pages == found("", order)
        for wrong in ("x", "v", "v99999999999999999999", "w-1"):
            with pytest.raises(Refused, match="page token"):
                found(token=wrong)
        with pytest.raises(Refused, match="view"):
            found(view="SOME")
        with pytest.raises(Refused, match="dataset"):
            found("datasets.size = '3'")
    with store.database.write() as connection:
        runs.archive(connection, [filled.ids[2]], True)
    with store.database.read() as connection:
        assert found("metrics.acc > 0") == [7, 6, 3, 1]
        assert found(view=DELETED_ONLY) == [2]
        assert len(found(view=ALL)) == 8


FILTERS = (
    *("metrics.acc > 0.2", "metrics.acc != 0.5", "params.lr = '0.1'", "params.lr != '0.1'", "params.lr IS NULL"),
    *("metrics.acc <= 0.6 and tags.team = 'red'", "run_name LIKE 'r1%' and metrics.acc >= 0", "metrics.none > 0"),
    *("tags.mlflow.runName IN ('r3', 'r17')", "params.lr = '0.2' and params.lr = '0.1'"),
)


@pytest.mark.parametrize("most", [0, 5, 12, 10_000])
def test_the_last_runs_say_the_same_as_all_of_them(filled: Filled, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_search, "_MOST_LOOKED_AT", most)
    for number in range(20):
        metrics = {} if number % 7 == 5 else {"acc": math.nan if number == 4 else number / 20}
        params = {} if number % 6 == 1 else {"lr": f"0.{number % 3}"}
        filled.run(metrics, params, {"team": "red" if number % 4 else "blue"}, display_name=f"r{number}")
    with filled.store.database.read() as connection:
        here = list(connection.scalars(select(tables.experiments.c.serial)))
        for filter in FILTERS:
            pages: list[int] = []
            token: str | None = None
            while True:
                serials, token = run_search.find(connection, Asked(here, filter, limit=2, token=token))
                pages += filled.numbers(connection, serials)
                if token is None:
                    break
            asked = Asked(here, filter, order_by=["attributes.start_time DESC"])  # which asks indexes
            assert pages == filled.numbers(connection, run_search.find(connection, asked)[0]), filter


def test_times_as_mlflow_writes_them() -> None:
    from datetime import datetime, timezone

    assert run_search.milliseconds(None) is None
    assert run_search.milliseconds(datetime(2020, 1, 1, 0, 0, 0, 1500, tzinfo=timezone.utc)) == 1577836800002
