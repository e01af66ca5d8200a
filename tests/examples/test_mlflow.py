"""What the page of MLflow promises, as its reader tries it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.examples.conftest import Reader


def test_plain_mlflow_code_in_a_run_and_its_client_beside_it(reader: Reader) -> None:
    said = reader.starts("examples/mlflow/submit.py")
    assert said.count("Completed") == 2
    assert said.count("points: 30") == 2
    assert said.count("['bias', 'weight']") == 2
    assert "best: 0.1" in said
    assert "registered: mlflow_example:1" in said
