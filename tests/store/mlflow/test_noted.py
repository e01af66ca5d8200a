"""What a journal notes for MLflow is kept, and what has no form harms nothing: nobody can correct a journal."""

from __future__ import annotations

from tests.server.conftest import journal_lines
from tests.store.mlflow.conftest import Filled

from runyard.store.metrics import journals
from runyard.store.mlflow import logged_models, run_details
from runyard.store.runs import experiments


def test_a_journal_with_parameters_and_notes(filled: Filled) -> None:
    id = filled.run()
    with filled.store.database.write() as connection:
        experiment = experiments.ensure(connection, "local", "exp")
        model = logged_models.create(connection, "local", experiment, "m", id)
    measured = {"key": "f1", "value": 0.5, "model_id": model.id, "timestamp": 7, "step": 2}
    lines = journal_lines(
        ["P", {"lr": "0.1"}],
        ["P", {"lr": "0.2", "depth": "3"}],
        ["m", "inputs", {"datasets": [{"dataset": {"name": "d", "digest": "1"}}, 5], "models": [{"model_id": "m-1"}]}],
        ["m", "outputs", {"models": [{"model_id": model.id, "step": "4"}, {}]}],
        ["m", "measured", measured],
        ["m", "measured", {"key": "f1", "value": "much", "model_id": model.id}],
        ["m", "measured", {"key": "f1", "value": 1, "model_id": "m-none"}],
        ["g", {"mlflow.runName": "called", "t": "1"}],
    )
    assert journals.take(filled.store.database, id, "mlflow-1", 0, lines) == len(lines)
    with filled.store.database.read() as connection:
        found = run_details.get(connection, id)
        assert found.parameters == {"lr": "0.1", "depth": "3"}
        assert (found.name, found.tags) == ("called", {"t": "1"})
        assert [each["dataset"]["name"] for each in found.inputs.datasets] == ["d"]
        assert (found.inputs.models, found.inputs.outputs) == ([("m-1", 0)], [(model.id, 4)])
        (metric,) = logged_models.get(connection, "local", model.id).metrics
    assert (metric["value"], metric["step"], metric["run_id"]) == (0.5, 2, id)
