"""What MLflow shows of a run comes in one read, whoever has written it."""

from __future__ import annotations

import pytest
from tests.store.mlflow.conftest import Filled

from runyard.store.errors import NotFound
from runyard.store.mlflow import run_details
from runyard.store.runs import runs


def test_a_run_with_all_that_belongs_to_it(filled: Filled) -> None:
    id = filled.run({"a": 1.5}, {"p": "1"}, {"t": "x", "mlflow.runName": "called", "mlflow.note.content": "said"})
    filled.run()
    with filled.store.database.write() as connection:
        found = run_details.get(connection, id)
        assert (found.name, found.description, found.tags) == ("called", "said", {"t": "x"})
        assert (found.parameters, [last.value for last in found.metrics]) == ({"p": "1"}, [1.5])
        assert (found.experiment, found.workspace, found.deleted) == ("exp", "local", False)
        runs.archive(connection, [id], True)
        other, same = run_details.of_serials(connection, [found.serial + 1, found.serial])
        assert (other.id, same.deleted) == (filled.ids[1], True)
        with pytest.raises(NotFound):
            run_details.get(connection, "nobody")
