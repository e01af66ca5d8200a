"""Runs with metrics, parameters and tags, to be found by MLflow's filters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from sqlalchemy import Connection

from runyard.store.metrics import staging
from runyard.store.mlflow import logging
from runyard.store.mlflow.logging import Point
from runyard.store.runs import runs
from runyard.store.runs.records import Run
from runyard.store.store import Store


@dataclass(frozen=True)
class Filled:
    """Makes runs of one experiment, and knows their order."""

    store: Store
    make_run: Callable[..., Run]
    ids: list[str]

    def run(
        self,
        metrics: dict[str, float] | None = None,
        params: dict[str, str] | None = None,
        tags: dict[str, str] | None = None,
        **told: object,
    ) -> str:
        run = self.make_run(kind="interactive", **told)
        self.ids.append(run.id)
        with self.store.database.write() as connection:
            serial = runs.serial_of(connection, run.id)
            points = [Point(name, value, 1.0, 1) for name, value in (metrics or {}).items()]
            logging.put(connection, serial, points, params, tags)
            staging.fold(connection, serial)
        return run.id

    def numbers(self, connection: Connection, serials: list[int]) -> list[int]:
        by_serial = {runs.serial_of(connection, id): number for number, id in enumerate(self.ids)}
        return [by_serial[serial] for serial in serials]


@pytest.fixture
def filled(store: Store, make_run: Callable[..., Run]) -> Filled:
    return Filled(store, make_run, [])
