"""What MLflow's client logs is stored in one piece or not at all."""

from __future__ import annotations

import pytest
from tests.store.mlflow.conftest import Filled

from runyard.store.errors import Conflict, Refused
from runyard.store.metrics import series, staging
from runyard.store.mlflow import logging
from runyard.store.mlflow.logging import Pending, Point
from runyard.store.runs import runs


def test_a_refused_parameter_takes_the_rest_with_it(filled: Filled) -> None:
    id = filled.run({}, {"p": "1"})
    database = filled.store.database
    with database.read() as connection:
        serial = runs.serial_of(connection, id)
    with pytest.raises(Conflict), database.write() as connection:
        logging.put(connection, serial, [Point("m", 1, 1.0, 0)], {"q": "1", "p": "2"}, {"t": "1"})
    with database.read() as connection:
        assert runs.get(connection, id).parameters == {"p": "1"}
        assert series.read(connection, id) == []
    for wrong in (Point(" ", 1, 1.0, 0), Point("m", 1, 1.0, 2**63)):
        with pytest.raises(Refused), database.write() as connection:
            logging.put(connection, serial, [wrong])
    with pytest.raises(Refused), database.write() as connection:
        logging.put(connection, serial, given={"": "x"})


def test_few_points_are_staged_and_many_are_not_left_waiting(filled: Filled) -> None:
    id = filled.run()
    database = filled.store.database
    pending = Pending(database)
    with database.write() as connection:
        serial = runs.serial_of(connection, id)
        size = logging.put(connection, serial, [Point("m", 1, 1.0, 0)])
    assert size > 0
    pending.added(serial, size)
    with database.read() as connection:
        assert staging.sizes(connection) == {serial: size}
    pending.added(serial, staging.ENOUGH)
    with database.read() as connection:
        assert staging.sizes(connection) == {}
    with database.write() as connection:
        assert logging.put(connection, serial, [Point("m", number, 1.0, number) for number in range(2000)]) == 0
    with database.read() as connection:
        (metric,) = series.read(connection, id)
    assert len(metric["values"]) == 2001
