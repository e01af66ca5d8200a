"""Runs as MLflow's client reads them."""

from __future__ import annotations

import math

import pytest

from runyard.server.mlflow import documents
from runyard.store.metrics.last_values import Last


@pytest.mark.parametrize(
    ("state", "status"),
    [
        ("Running", "RUNNING"),
        ("Completed", "FINISHED"),
        ("Failed", "FAILED"),
        ("Canceled", "KILLED"),
        ("Queued", "SCHEDULED"),
    ],
)
def test_states(state: str, status: str) -> None:
    assert documents.status_of(state) == status


def test_numbers_pages_and_ids() -> None:
    assert [documents.number(value) for value in (1.5, math.nan, math.inf, -math.inf)] == [
        1.5,
        "NaN",
        "Infinity",
        "-Infinity",
    ]
    assert documents.metric(Last("m", 1.0, None, 1.0006)) == {"key": "m", "value": 1.0, "timestamp": 1001, "step": 0}
    assert documents.page("x", [], None) == {"x": []}
    assert documents.page("x", [{}], "5")["next_page_token"] == "5"
    assert documents.public_id("uuid", "Default") == "0"
    assert documents.artifact_uri("0", "r") == "mlflow-artifacts:/0/r/artifacts"
