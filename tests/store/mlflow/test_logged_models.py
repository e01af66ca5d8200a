"""Logged models: each has a folder of its own among the files of a run."""

from __future__ import annotations

import pytest
from tests.store.mlflow.conftest import Filled

from runyard.store.errors import NotFound, Refused
from runyard.store.mlflow import logged_models
from runyard.store.mlflow.logged_models import Measured
from runyard.store.runs import experiments, runs
from runyard.store.runs.filter import RunFilter


def test_models_of_a_run_and_of_none(filled: Filled) -> None:
    id = filled.run()
    with filled.store.database.write() as connection:
        experiment = experiments.ensure(connection, "local", "exp")
        first = logged_models.create(connection, "local", experiment, "model", id, "agent", {"p": "1"}, {"t": "1"})
        second = logged_models.create(connection, "local", experiment, "model", id)
        alone = logged_models.create(connection, "local", experiment, "", None)
        assert first.place == "outputs/model"
        assert second.place.startswith("outputs/model-m-")
        assert alone.run_id != id
        assert [run.id for run in runs.find(connection, RunFilter(workspace="local"))[0]] == [id]
        with pytest.raises(Refused):
            logged_models.create(connection, "local", experiment, "../x", id)
        changed = logged_models.change(
            connection, "local", first.id, logged_models.READY, {"u": "2"}, "t", add_parameters={"q": "2"}
        )
        assert (changed.status, changed.tags, changed.parameters) == (
            logged_models.READY,
            {"u": "2"},
            {"p": "1", "q": "2"},
        )
        with pytest.raises(Refused):
            logged_models.change(connection, "local", first.id, "SLEEPING")
        for value in (0.5, float("nan")):
            logged_models.measure(connection, "local", first.id, Measured("f1", value, 1, 0), "d", "1", id)
        assert [each["value"] for each in logged_models.get(connection, "local", first.id).metrics] == ["nan"]
        ids = [experiment.id]
        assert [each.id for each in logged_models.find(connection, "local", ids)] == [alone.id, second.id, first.id]
        assert [each.id for each in logged_models.find(connection, "local", ids, id)] == [second.id, first.id]
        logged_models.remove(connection, "local", second.id)
        with pytest.raises(NotFound):
            logged_models.get(connection, "local", second.id)
        with pytest.raises(NotFound):
            logged_models.get(connection, "other", first.id)
