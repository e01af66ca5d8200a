"""The data and models that a script says it has read."""

from __future__ import annotations

from tests.store.mlflow.conftest import Filled

from runyard.store.mlflow import inputs
from runyard.store.runs import runs


def test_datasets_and_models_of_a_run(filled: Filled) -> None:
    id = filled.run()
    document = {"dataset": {"name": "d", "digest": "1"}, "tags": [{"key": inputs.CONTEXT, "value": "train"}]}
    with filled.store.database.write() as connection:
        serial = runs.serial_of(connection, id)
        for _ in range(2):
            inputs.add_dataset(connection, serial, document)
            inputs.add_models(connection, serial, inputs.OUTPUT, [("m-1", 3)])
        inputs.add_models(connection, serial, inputs.INPUT, [("m-2", 0)])
        found = inputs.of_runs(connection, [serial, serial + 1])
    assert list(found) == [serial]
    assert found[serial].datasets == [document]
    assert (found[serial].models, found[serial].outputs) == ([("m-2", 0)], [("m-1", 3)])
